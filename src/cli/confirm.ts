import { createInterface } from 'node:readline/promises'
import { Option } from 'commander'
import { OperatorError } from '../errors/index.js'
import { rememberIntent } from './audited.js'
import { remark, say, sayJson, visibleLine } from './output.js'
import type { CommandPlace } from './place.js'

/**
 * Before a command does something that cannot be undone, it says so with the present numbers, and
 * asks:
 *
 * | | at a terminal | without one, or with --json |
 * | --- | --- | --- |
 * | `mild`: can be made good again, with some work | y or n | acts, as scripts expect |
 * | `moderate`: is lost, or leaves as mail | y or n | refuses without --yes |
 * | `severe`: what a person or a domain was is lost | its name typed | refuses without --yes |
 *
 * `--yes` asks nothing, `--dry-run` says the same and does nothing.
 */
export interface Intent {
  /** What would be done, in the words after "This would": 'delete the domain example.com'. */
  to: string
  /** What goes with it, a sentence each, with the present numbers. */
  facts: readonly string[]
  /** The numbers of `facts` for programs. */
  counts?: Readonly<Record<string, unknown>>
  how: 'mild' | 'moderate' | { typed: string }
}

/** What `askOptions` adds to a command. */
export interface AskOptions {
  yes?: true
  dryRun?: true
}

/** Gives a command `--yes` and `--dry-run`; it then asks `confirmed` before it changes anything. */
export const askOptions = (): Option[] => [
  new Option('-y, --yes', 'do it without a question'),
  new Option('--dry-run', 'only say what would be done'),
]

/** Whether to go on. If not, the command ends: everything is said, and the status set. */
export async function confirmed(
  place: CommandPlace,
  { yes, dryRun }: AskOptions,
  intent: Intent,
): Promise<boolean> {
  rememberIntent(intent.to)
  if (dryRun) sayIntent(place, intent)
  if (dryRun || yes) return !dryRun
  // `--yes` was looked at first, so that it works at a terminal too.
  if (isAtTerminal(place)) return await asked(intent)
  if (intent.how === 'mild') return true
  const facts = intent.facts.map((fact) => `. ${fact}`).join('')
  throw new OperatorError(`This would ${intent.to}${facts}. Nothing was changed`, {
    code: 'unconfirmed',
    advice: 'with --yes it is done, --dry-run only says this',
  })
}

/** Whether somebody is there to answer. */
export const isAtTerminal = ({ json }: CommandPlace): boolean =>
  process.stdin.isTTY && process.stderr.isTTY && !json

/** --dry-run is read by scripts too, so it has the same facts as numbers. */
function sayIntent({ json }: CommandPlace, { to, facts, counts }: Intent): void {
  if (json) {
    sayJson({ dryRun: true, would: to, facts, ...counts })
    return
  }
  say(visibleLine(`It would ${to}.`))
  for (const fact of facts) say(visibleLine(`${fact}.`))
}

/** Puts the question on stderr: stdout is the answer's. */
async function asked({ to, facts, how }: Intent): Promise<boolean> {
  const said = [
    visibleLine(`This will ${to}.`),
    ...facts.map((fact) => `  ${visibleLine(fact)}.`),
  ].join('\n')
  const name = typeof how === 'object' ? how.typed : undefined
  const question = name === undefined ? 'Go on? [y/N] ' : `Type ${visibleLine(name)} to go on: `
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  const answer = await new Promise<string | undefined>((resolve) => {
    // Ctrl-C, and Ctrl-D.
    lines.once('SIGINT', () => {
      process.exitCode = 130
      lines.close()
    })
    lines.once('close', () => resolve(undefined))
    lines.question(`${said}\n${question}`).then(resolve, () => resolve(undefined))
  })
  lines.close()
  const given = answer?.trim().toLowerCase() ?? ''
  if (name === undefined ? ['y', 'yes'].includes(given) : given === name.toLowerCase()) return true
  process.exitCode ??= 1
  remark(answer === undefined ? '\nNothing was changed' : 'Nothing was changed')
  return false
}
