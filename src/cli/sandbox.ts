import type { Command } from 'commander'
import { OperatorError } from '../errors/index.js'
import { port } from './option-values.js'
import { say } from './output.js'

/** `posthorn sandbox`: an appliance for the tests of a program. */
export function sandboxCommand(program: Command): void {
  program
    .command('sandbox')
    .description('an appliance for the tests of your program: empty, in memory, gone when they end')
    .option('--for-tests', 'start one; its address and API key come as a line of JSON')
    .option('--port <port>', 'of the API and the inbox (default: a free one)', port, 0)
    .addHelpText(
      'after',
      `
Everything is on 127.0.0.1 and in /dev/shm (else the folder for temporary files), and is removed at the
end: at SIGTERM or SIGINT, when standard input is closed, or when the process that started it is gone,
even by SIGKILL. How to use it with Vitest, Jest, pytest and Playwright: src/sandbox/README.md

Example:
  $ posthorn sandbox --for-tests
  {"url":"http://127.0.0.1:40131","apiKey":"ph_…","from":"hello@example.test", …}`,
    )
    .action(async (options: { forTests?: boolean; port: number }) => {
      if (options.forTests !== true) {
        throw new OperatorError(
          "To try Posthorn out, run bin/quickstart; 'posthorn sandbox --for-tests' starts one for tests",
        )
      }
      const { endOfTests, openTestSandbox } = await import('./sandbox-for-tests.js')
      // Before the sandbox opens, as the tests may end while it starts.
      const ended = endOfTests()
      const sandbox = await openTestSandbox(options.port)
      say(JSON.stringify(sandbox.told))
      try {
        await sandbox.complete()
        await ended
      } finally {
        await sandbox.close()
      }
    })
}
