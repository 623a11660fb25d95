'use strict';
// The compiled package, or what to do when a clone has not been built.
let towline;
try {
  towline = require('./dist/index.js');
} catch (error) {
  if (error.code !== 'MODULE_NOT_FOUND' || !error.message.includes('dist/index.js')) throw error;
  throw new Error(
    `towline is not built in ${__dirname}: its install script has not run. Run "npm run prepare" there ` +
      '(it needs Rust), or let npm run it: "npm install-scripts approve towline".',
    { cause: error },
  );
}
module.exports = towline;
