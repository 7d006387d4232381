import type { SMTPServer } from 'smtp-server'
import { wrapSessions } from './session-bounds.js'

/**
 * RFC 5321 §4.1.1.2 wants a path in angle brackets. Printers and old programs leave them out; other servers accept
 * that, smtp-server does not.
 */
export function takeBarePaths(server: SMTPServer): void {
  wrapSessions(server, (connection) => {
    const onCommand = connection._onCommand.bind(connection)
    connection._onCommand = (command, done) => onCommand(withBrackets(command), done)
  })
}

// The local part may be a quoted string (RFC 5321 §4.1.2).
const barePath =
  /^((?:MAIL FROM|RCPT TO)[ \t]*:[ \t]*)((?:"(?:[^"\\]|\\.)*"|[^\s<>"]+)@[^\s<>]+)(?=\s|$)/i

const withBrackets = (command: Buffer): Buffer =>
  Buffer.from(command.toString('latin1').replace(barePath, '$1<$2>'), 'latin1')
