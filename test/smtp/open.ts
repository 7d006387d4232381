import { connectSmtp, type SmtpConnection, type SmtpConnectOptions } from '../../src/smtp/index.js'

export type Tester = { teardown(end: () => unknown): void }

/** Options for a session with a receiver on the loopback, in the clear unless told otherwise. */
export function towards(
  mx: { host: string; port: number },
  options: Partial<SmtpConnectOptions> = {},
): SmtpConnectOptions {
  const { host, port } = mx
  return { host, port, heloName: 'client.example.test', tls: { mode: 'off' }, ...options }
}

/** Opens a session that must succeed; the test's end closes it. */
export async function open(
  t: Tester,
  mx: { host: string; port: number },
  options: Partial<SmtpConnectOptions> = {},
): Promise<SmtpConnection> {
  const result = await connectSmtp(towards(mx, options))
  if (result.kind === 'failed') throw new Error(`No session: ${result.cause}\n${result.transcript}`)
  t.teardown(() => result.connection.destroy())
  return result.connection
}
