#!/usr/bin/env node
// Plain syntax, so that an old Node can run it and print the error.
var required = [22, 18];
var version = process.versions.node.split('.').map(Number);
var isOld = version[0] < required[0] || (version[0] === required[0] && version[1] < required[1]);

if (isOld) runWithInstalledNode();
else start();

/** A clone of the repository has its own Node in node_modules. */
function runWithInstalledNode() {
  Promise.all([import('node:child_process'), import('node:url'), import('node:os')]).then(function (modules) {
    var file = function (path) {
      return modules[1].fileURLToPath(new URL(path, import.meta.url));
    };
    var child = modules[0].spawn(
      file('../node_modules/node/bin/node'),
      [file('./citeloop.js')].concat(process.argv.slice(2)),
      { stdio: 'inherit' },
    );
    forwardSignals(child);
    child.on('error', reportOldNode);
    child.on('exit', function (code, signal) {
      process.exitCode = code === null ? 128 + modules[2].constants.signals[signal] : code;
    });
  });
}

/** The child ignores a signal that it got directly as well. */
function forwardSignals(child) {
  ['SIGINT', 'SIGTERM', 'SIGHUP'].forEach(function (signal) {
    process.on(signal, function () {
      child.kill(signal);
    });
  });
}

function reportOldNode() {
  process.stderr.write(
    'citeloop: Node ' +
      process.versions.node +
      ' is too old. Install Node ' +
      required.join('.') +
      ' or newer.\n',
  );
  process.exitCode = 3;
}

/** Node 22 warns that its SQLite module is experimental. */
function withoutSqliteWarning() {
  var emitWarning = process.emitWarning;
  process.emitWarning = function (...given) {
    if (!/SQLite is an experimental/.test(String(given[0]))) emitWarning.apply(process, given);
  };
}

function start() {
  withoutSqliteWarning();
  import('node:module')
    .then(function (nodeModule) {
      nodeModule.enableCompileCache();
      return import('../dist/main.js');
    })
    .then(
      function (main) {
        return main.runProgram();
      },
      function (error) {
        var isMissing = error.code === 'ERR_MODULE_NOT_FOUND' && /dist.main\.js/.test(error.message);
        process.stderr.write(
          'citeloop: ' + (isMissing ? 'Not built yet. Run "npm run build".' : error.stack) + '\n',
        );
        process.exitCode = 1;
      },
    );
}
