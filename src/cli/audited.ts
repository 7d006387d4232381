import { userInfo } from 'node:os'
import type { Command } from 'commander'
import { type Actor, noteAudit } from '../audit/index.js'
import type { Clock } from '../clock/index.js'
import { writtenSpan } from '../fields/index.js'
import type { Store, Tx } from '../store/index.js'

/** The command of this process, as the audit log will name it. */
let running:
  | { name: string; actor: Actor; args: string[]; detail: Record<string, unknown> }
  | undefined
// Set once it is known which account a command is about; not all of them name it.
let account: string | undefined

/**
 * `name`: the action's name in the log. Called once for each command line, before anything is done and before root
 * becomes another user.
 */
export function rememberCommand(command: Command, name: string): void {
  // Tests run several command lines in one process.
  account = undefined
  const actor = { kind: 'cli', userId: null, name: whoRuns(), clientAddressKey: null } as const
  const given = Object.entries(command.opts<Record<string, unknown>>())
    // Only what was typed: defaults and the environment would fill the log with what everybody has.
    .filter(([option]) => command.getOptionValueSource(option) === 'cli')
    .map(([option, value]) => [option, isSecret(option) ? 'given' : typed(command, option, value)])
  running = {
    name,
    actor,
    args: command.args.map(withoutSecrets),
    detail: Object.fromEntries(given),
  }
}

/**
 * What the command said it would do: the log then says more than an id about something that is
 * gone.
 */
export function rememberIntent(to: string): void {
  if (running === undefined) return
  running.detail = { ...running.detail, did: to.replace(/https?:\/\/\S+/gi, withoutSecrets) }
}

/** The command is about this account. */
export function rememberAccount(accountId: string): void {
  account = accountId
}

/** A store whose first write also notes the command, in the same transaction: a change and its row go together. */
export function audited(store: Store, clock: Clock): Store {
  let isNoted = false
  return {
    ...store,
    write: async (work, aloneWith) => {
      // A command that writes in many small transactions has one row all the same.
      if (isNoted || running === undefined) return await store.write(work, aloneWith)
      const { name, actor, args, detail } = running
      const result = await store.write(async (tx) => {
        const done = await work(tx)
        const accountId = account ?? (await accountNamed(tx, name, args))
        const target = args.length === 0 ? null : args.join(' ')
        const change = { actor, accountId, action: name, target, detail }
        await noteAudit(tx, { ...change, at: clock.now() })
        return done
      }, aloneWith)
      // After the commit: a write that fails and is tried again must still be noted.
      isNoted = true
      return result
    },
  }
}

/**
 * The account that `posthorn account suspend NAME` and the like name by their first argument; null for other commands.
 */
async function accountNamed(tx: Tx, name: string, [first]: string[]): Promise<string | null> {
  if (!name.startsWith('posthorn account ') || first === undefined) return null
  const row = await tx
    .selectFrom('accounts')
    .select('id')
    .where((eb) => eb.or([eb('id', '=', first.toLowerCase()), eb('name', '=', first)]))
    .executeTakeFirst()
  return row?.id ?? null
}

/** Behind sudo everybody is root, but an audit log must name the person who called it. */
export function whoRuns(): string {
  const { SUDO_USER } = process.env
  if (SUDO_USER) return SUDO_USER
  try {
    return userInfo().username
  } catch {
    // A container may run as a user id that no file names.
    return `user ${process.getuid?.() ?? 'unknown'}`
  }
}

/** Judged by the option's name: the log says that a secret was given, and not which. */
const isSecret = (option: string) => /secret|pass|token|key/i.test(option)

/** A span, which was read into milliseconds, with its unit again. */
function typed(command: Command, option: string, value: unknown): unknown {
  const isSpan = command.options
    .find((one) => one.attributeName() === option)
    ?.flags.endsWith('<span>')
  return isSpan && typeof value === 'number' ? writtenSpan(value) : shown(value)
}

/**
 * Arguments go into the audit log as they were typed. A password in a URL or a key must not, since
 * the log is kept for years and shown on pages.
 */
function shown(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shown)
  return typeof value === 'string' ? withoutSecrets(value) : value
}

/** A URL without the parts that may let somebody in: a user with a password, a query. */
function withoutSecrets(text: string): string {
  if (!/^https?:\/\//i.test(text)) return text
  try {
    const { origin, pathname } = new URL(text)
    return `${origin}${pathname}`
  } catch {
    return 'a URL'
  }
}
