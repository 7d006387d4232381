import { spawn } from 'node:child_process'
import type { Clock } from '../clock/index.js'
import { authoritiesOf, type Config, type SmartHost } from '../config/index.js'
import { messageOf } from '../errors/index.js'
import { composeMessage, parseMailbox } from '../mime/index.js'
import type { OperatorMessage, Way } from '../notices/index.js'
import { openResolver } from './resolver.js'

interface WayDeps {
  config: Config
  clock: Clock
  env: Readonly<Record<string, string | undefined>>
}

/**
 * How the operator is reached when the queue does not deliver: by the relays of `[operator]`, otherwise by the smart
 * hosts of the failover, each with a session of its own; then by the command. None needs the database.
 */
export function operatorWays(deps: WayDeps): Way[] {
  const { operator, outbound } = deps.config
  const relays = operator.relays.length > 0 ? operator.relays : outbound.failover.smartHosts
  const [program, ...args] = operator.command
  return [
    ...(operator.notify === '' ? [] : relays.map((relay) => wayByRelay(deps, relay))),
    ...(program === undefined ? [] : [wayByCommand(deps.clock, program, args)]),
  ]
}

/** For trouble with the queue itself: goes straight to a smart host, unsigned, from whatever address there is. */
function wayByRelay({ config, clock, env }: WayDeps, relay: SmartHost): Way {
  const { operator, outbound } = config
  const { heloName } = outbound
  const domain = heloName.includes('.') ? heloName : 'posthorn.invalid'
  return {
    name: `relay ${relay.host}:${relay.port}`,
    async send(mail, id) {
      const from = operator.from || `postmaster@${domain}`
      const raw = rawOf(mail, { from, to: operator.notify, id: `${id}@${domain}`, at: clock.now() })
      // Loaded only here, as all of outbound comes with it.
      const { openSmartHost } = await import('../outbound/index.js')
      const resolver = openResolver(config.dns, clock)
      const ca = authoritiesOf(relay)
      const session = await openSmartHost(relay, { resolver, heloName, env, ca })
      if ('failure' in session) {
        const { phase, cause, reply } = session.failure
        throw new Error(`${phase}: ${reply === undefined ? cause : `${reply.code} ${reply.text}`}`)
      }
      const { connection } = session
      const result = await connection.send({ from, to: operator.notify }, raw)
      connection.quit()
      if (result.kind === 'lost') throw new Error(`lost at ${result.phase}: ${result.cause}`)
      const reply = `${result.reply.code} ${result.reply.text}`
      if (result.kind !== 'accepted') throw new Error(reply)
      return reply
    },
  }
}

/** Composes a notice with the composer of all mail, so that it is as well formed. */
function rawOf(
  mail: OperatorMessage,
  { from, to, id, at }: { from: string; to: string; id: string; at: number },
): Buffer[] {
  const [sender, recipient] = [parseMailbox(`Posthorn <${from}>`), parseMailbox(to)]
  if (sender === undefined || recipient === undefined)
    throw new Error(`${to} is not an email address`)
  const { header, body } = composeMessage({
    from: sender,
    to: [recipient],
    subject: mail.subject,
    text: mail.text,
    html: mail.html,
    messageId: `<${id}>`,
    dateMs: at,
    // RFC 3834 §5: no vacation notice is to answer.
    extraHeaders: [{ name: 'Auto-Submitted', value: 'auto-generated' }],
  })
  return [header, Buffer.from('\r\n'), body]
}

const commandWithinMs = 60_000

/** The subject is in POSTHORN_SUBJECT, the text comes on stdin; nothing else of ours is passed on. */
function wayByCommand(clock: Clock, program: string, args: readonly string[]): Way {
  return {
    name: `command ${program}`,
    send: ({ subject, text }) =>
      new Promise((resolve, reject) => {
        const { PATH = '/usr/bin:/bin' } = process.env
        const child = spawn(program, args, {
          env: { PATH, POSTHORN_SUBJECT: subject },
          stdio: ['pipe', 'ignore', 'ignore'],
        })
        const cancel = clock.after(commandWithinMs, () => child.kill('SIGKILL'))
        child.once('error', (error) => {
          cancel()
          reject(error)
        })
        child.once('exit', (status, signal) => {
          cancel()
          if (status === 0) resolve('ended with status 0')
          else reject(new Error(`ended with ${signal ?? `status ${status}`}`))
        })
        // The command need not read its input.
        child.stdin.on('error', (error) => void messageOf(error))
        child.stdin.end(text)
      }),
  }
}
