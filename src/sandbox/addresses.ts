import type { SMTPServer } from 'smtp-server'
import { parseMailbox } from '../mime/index.js'

type Connection = SMTPServer['connections'] extends Set<infer C> ? C : never

// MAIL or RCPT, up to 2 KiB: before the path, the path, its parameters.
const command =
  /^([^<]{0,20})<((?:"(?:[^"\\]|\\.){0,100}"|[^<>\s"]{1,100})@[^<>\s"@]{1,300})>(.*)$/s

/**
 * smtp-server splits at the first space and at each @, and so refuses quoted local parts that have
 * them (RFC 5321 §4.1.2); nor does it take what a few real servers do. It reads a path in its place,
 * and with that the parameters.
 */
export function takeAllAddresses(server: SMTPServer): void {
  const connect = server.connect.bind(server)
  server.connect = (socket, options) => {
    connect(socket, options)
    const added = [...server.connections].find((connection) => connection._socket === socket)
    if (added !== undefined) readPaths(added)
  }
}

function readPaths(connection: Connection): void {
  const parse = connection._parseAddressCommand.bind(connection)
  connection._parseAddressCommand = (name, raw) => {
    const parsed = parse(name, raw)
    if (parsed !== false) return parsed
    const [, before, address = '', after] = command.exec(raw.toString()) ?? []
    if (parseMailbox(address) === undefined) return false
    const inPlace = parse(name, `${before}<path@sandbox.posthorn.test>${after}`)
    return inPlace && { ...inPlace, address }
  }
}

/** What is wrong with addresses that were taken all the same, each with its address. */
export const warningsOf = (recipients: readonly string[]): string[] =>
  recipients.flatMap((address) => {
    const warning = parseMailbox(address)?.warning
    return warning === undefined ? [] : [`${address}: ${warning}`]
  })
