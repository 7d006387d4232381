import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { passphraseOf } from '../backup/index.js'
import { OperatorError } from '../errors/index.js'

/** Where the passphrase of a backup is: the option's file, else the settings' file, else the environment. */
export const givenPassphrase = (option: string | undefined, setting: string) =>
  passphraseOf(option ?? setting, process.env)

/** Asks for it at the terminal, where it is not shown; OperatorError where there is none to ask at. */
export async function askPassphrase(question: string): Promise<string> {
  if (!process.stdin.isTTY) {
    throw new OperatorError(
      'The passphrase is missing: --passphrase-file names a file that has it, or put it into POSTHORN_BACKUP_PASSPHRASE',
    )
  }
  process.stderr.write(`${question}: `)
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() })
  const lines = createInterface({ input: process.stdin, output: silent, terminal: true })
  try {
    const answer = await lines.question('')
    if (answer === '') throw new OperatorError('No passphrase was given')
    return answer
  } finally {
    lines.close()
    process.stderr.write('\n')
  }
}
