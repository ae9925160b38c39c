#!/usr/bin/env node
// Kept to what the oldest Node can read, so that it can say what is wrong.
var wanted = [22, 18];
var version = process.versions.node.split('.').map(Number);
if (version[0] < wanted[0] || (version[0] === wanted[0] && version[1] < wanted[1])) {
  process.stderr.write(
    'citeloop: Node ' +
      process.versions.node +
      ' is too old; it needs Node ' +
      wanted.join('.') +
      ' or newer.\n',
  );
  process.exit(3);
}
import('node:module')
  .then(function (nodeModule) {
    nodeModule.enableCompileCache();
    return import('../dist/main.js');
  })
  .then(
    function (main) {
      return main.run();
    },
    function (error) {
      var missing = error.code === 'ERR_MODULE_NOT_FOUND' && /dist.main\.js/.test(error.message);
      process.stderr.write(
        'citeloop: ' + (missing ? 'not built yet; run `npm run build` first.' : error.stack) + '\n',
      );
      process.exitCode = 1;
    },
  );
