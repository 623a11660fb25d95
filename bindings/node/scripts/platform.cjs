// The names that @napi-rs/cli gives the prebuilt addons of machines, and their packages.
'use strict';

/** Whether the C library is musl. */
function isMusl() {
  if (process.platform !== 'linux') return false;
  const report = process.report?.getReport();
  const header = typeof report === 'string' ? JSON.parse(report).header : report?.header;
  return !header?.glibcVersionRuntime;
}

/** The platform of this machine. */
exports.platformName = () => {
  const name = `${process.platform}-${process.arch}`;
  return process.platform === 'linux' ? `${name}-${isMusl() ? 'musl' : 'gnu'}` : name;
};

/** What cargo calls the library that becomes the addon. */
exports.libraryName = () => {
  if (process.platform === 'win32') return 'towline_node.dll';
  return process.platform === 'darwin' ? 'libtowline_node.dylib' : 'libtowline_node.so';
};

const CPUS = { x86_64: 'x64', aarch64: 'arm64' };

/** The platform of a Rust target, and what npm has to know of it. */
exports.platformOf = (target) => {
  const [cpu, , system, abi] = target.split('-');
  if (system !== 'linux' || !(cpu in CPUS)) throw new Error(`No addon is built for ${target}`);
  return {
    name: `linux-${CPUS[cpu]}-${abi}`,
    os: ['linux'],
    cpu: [CPUS[cpu]],
    libc: [abi === 'musl' ? 'musl' : 'glibc'],
  };
};
