import type { SMTPServer } from 'smtp-server'
import { type SessionConnection, wrapSessions } from './session-bounds.js'

const ownCode = /^[245]\.\d{1,3}\.\d{1,3} /

/** A line with its enhanced code: its own, or that of smtp-server's table; none where RFC 2034 §3 has none. */
export function coded(
  connection: SessionConnection,
  { code, line, context }: { code: number; line: string; context: string | false | undefined },
): string {
  if (context === false || ownCode.test(line)) return line
  const enhanced =
    code === 421 ? closingCode(line) : connection._getEnhancedStatusCode(code, context)
  return enhanced === '' ? line : `${enhanced} ${line}`
}

/** RFC 3463 §3.5: smtp-server says of each end of a session that the connection timed out. */
function closingCode(line: string): string {
  if (line.startsWith('Timeout')) return '4.4.2'
  return line.startsWith('Server shutting down') ? '4.3.2' : '4.7.0'
}

/** Lets replies say their own codes: smtp-server's table knows `452` as a full mailbox alone. */
export function codeReplies(server: SMTPServer): void {
  wrapSessions(server, (connection) => {
    const send = connection.send.bind(connection)
    connection.send = (code, data, context) =>
      typeof data === 'string'
        ? send(code, coded(connection, { code, line: data, context }), false)
        : send(code, data, context)
  })
}
