import type { SMTPServer } from 'smtp-server'
import { wrapSessions } from './session-bounds.js'

/**
 * RFC 5321 §4.1.1.2 wants a path in angle brackets; printers and old programs leave them out, which other servers
 * take, and smtp-server does not.
 */
export function takeBarePaths(server: SMTPServer): void {
  wrapSessions(server, (connection) => {
    const onCommand = connection._onCommand.bind(connection)
    connection._onCommand = (command, done) => onCommand(withBrackets(command), done)
  })
}

// Its local part may be a quoted string (RFC 5321 §4.1.2).
const barePath =
  /^((?:MAIL FROM|RCPT TO)[ \t]*:[ \t]*)((?:"(?:[^"\\]|\\.)*"|[^\s<>"]+)@[^\s<>]+)(?=\s|$)/i

const withBrackets = (command: Buffer): Buffer =>
  Buffer.from(command.toString('latin1').replace(barePath, '$1<$2>'), 'latin1')
