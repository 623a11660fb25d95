/** Lists that applications look things up in. The values are the CLI's. */
