// The name that @napi-rs/cli gives the prebuilt addon of this machine.
'use strict';

/** Whether the C library is musl. */
function isMusl() {
  if (process.platform !== 'linux') return false;
  const report = process.report?.getReport();
  const header = typeof report === 'string' ? JSON.parse(report).header : report?.header;
  return !header?.glibcVersionRuntime;
}

exports.platformName = () => {
  const name = `${process.platform}-${process.arch}`;
  return process.platform === 'linux' ? `${name}-${isMusl() ? 'musl' : 'gnu'}` : name;
};
