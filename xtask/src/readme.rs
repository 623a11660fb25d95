//! The examples in README.md: each code block under `<!-- PATH -->` is that file.

use crate::files::{root, Generated};

/// README.md with its examples as they stand in the repository.
///
/// # Errors
/// A file that cannot be read, or a mark without a code block under it.
pub fn generate() -> Result<Generated, String> {
    let read = |path: &str| {
        std::fs::read_to_string(root().join(path)).map_err(|error| format!("{path}: {error}"))
    };
    let there = read("README.md")?;
    let mut text = String::new();
    let mut lines = there.lines();
    while let Some(line) = lines.next() {
        text.push_str(line);
        text.push('\n');
        let mark = line
            .strip_prefix("<!-- ")
            .and_then(|rest| rest.strip_suffix(" -->"));
        let Some(path) = mark else { continue };
        let fence = lines.next().filter(|line| line.starts_with("```"));
        let fence = fence.ok_or_else(|| format!("README.md: no code block under {path}"))?;
        text.push_str(fence);
        text.push('\n');
        text.push_str(&read(path)?);
        text.push_str("```\n");
        lines
            .by_ref()
            .find(|line| *line == "```")
            .ok_or_else(|| format!("README.md: the code block under {path} does not end"))?;
    }
    Ok(Generated {
        path: "README.md",
        text,
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_readme_shows_the_examples_as_they_are() {
        let readme = super::generate().unwrap();
        crate::files::check(&[readme], "cargo run -p xtask -- readme").unwrap();
    }
}
