#!/usr/bin/env node
// Kept to what the oldest Node can read, so that it can say what is wrong.
var wanted = [22, 18];
var version = process.versions.node.split('.').map(Number);
var isOld = version[0] < wanted[0] || (version[0] === wanted[0] && version[1] < wanted[1]);

if (isOld) runWithOwnNode();
else start();

/** A clone brings a Node of its own; what npm scripts find on their path is used here too. */
function runWithOwnNode() {
  Promise.all([import('node:child_process'), import('node:url'), import('node:os')]).then(function (modules) {
    var file = function (path) {
      return modules[1].fileURLToPath(new URL(path, import.meta.url));
    };
    var own = modules[0].spawn(
      file('../node_modules/node/bin/node'),
      [file('./citeloop.js')].concat(process.argv.slice(2)),
      { stdio: 'inherit' },
    );
    passSignals(own);
    own.on('error', sayTooOld);
    own.on('exit', function (code, signal) {
      process.exitCode = code === null ? 128 + modules[2].constants.signals[signal] : code;
    });
  });
}

/** Whoever stops this process means the one that works, which takes signals that come together for one. */
function passSignals(own) {
  ['SIGINT', 'SIGTERM', 'SIGHUP'].forEach(function (signal) {
    process.on(signal, function () {
      own.kill(signal);
    });
  });
}

function sayTooOld() {
  process.stderr.write(
    'citeloop: Node ' +
      process.versions.node +
      ' is too old; it needs Node ' +
      wanted.join('.') +
      ' or newer.\n',
  );
  process.exitCode = 3;
}

function start() {
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
}
