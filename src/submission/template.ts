import { headersFault, maxReplyTo, type SendInput } from '../emails/index.js'
import { type HeaderField, readableValue, readParts } from '../mime/index.js'
import type { Arrived } from './arriving.js'
import { type Understood, wrong } from './message.js'

/**
 * What a message keeps when a template replaces its text: the fields that a mail of the API may have too. Throws a
 * `validation_error` for anything that would silently be lost, or be shown to others.
 */
export function forTemplate(
  { kept, isReplyToRead, ownHeaders }: Understood,
  recipients: readonly string[],
  { header, body }: Pick<Arrived, 'header' | 'body'>,
): Pick<SendInput, 'headers'> {
  const { leaves, broken } = readParts(header, body)
  if (broken !== undefined) {
    throw wrong(`With X-Posthorn-Template the message is the template's; of this one, ${broken}`)
  }
  const lost = leaves.find(({ type, isAttachment }) => isAttachment || !/^text\//.test(type))
  if (lost !== undefined) {
    throw wrong(
      `With X-Posthorn-Template the message is the template's: the part of type ${lost.type} would be lost`,
    )
  }
  if (!isReplyToRead) {
    throw wrong(`Reply-To cannot be read: expected at most ${maxReplyTo} of "Name <email@domain>"`)
  }
  // The composed mail names its recipients in To, so a Bcc recipient must not get there.
  const isInTo = namedIn(kept, 'to')
  const isInCc = namedIn(kept, 'cc')
  const hidden = recipients.find((address) => !isInTo(address) && !isInCc(address))
  if (
    hidden !== undefined &&
    recipients.length > 1 &&
    (ownHeaders.type === 'marketing' || !recipients.some(isInTo))
  ) {
    throw wrong(
      `With X-Posthorn-Template all would see ${hidden}, which neither To nor Cc names: hand it in by itself`,
    )
  }
  const fields = kept.filter(({ name }) => headersFault({ [name]: 'x' }) === undefined)
  if (fields.length === 0) return {}
  return {
    headers: Object.fromEntries(
      fields.map(({ raw, value }) => [
        raw.toString('latin1').split(':', 1)[0]?.trimEnd() ?? '',
        readableValue(value),
      ]),
    ),
  }
}

/**
 * The recipients by the field in which readers see them. Marketing mail has no copies, because each recipient has a
 * link of their own.
 */
export function whereNamed(
  { ownHeaders, kept }: Understood,
  recipients: readonly string[],
): Pick<SendInput, 'to' | 'cc' | 'bcc'> {
  const to = recipients.filter(namedIn(kept, 'to'))
  if (ownHeaders.type === 'marketing' || to.length === 0) return { to: [...recipients] }
  const others = recipients.filter((address) => !to.includes(address))
  const cc = others.filter(namedIn(kept, 'cc'))
  const bcc = others.filter((address) => !cc.includes(address))
  return { to, ...(cc.length > 0 && { cc }), ...(bcc.length > 0 && { bcc }) }
}

/** Whether a field of addresses names one. */
function namedIn(fields: readonly HeaderField[], field: string) {
  const said = fields.find(({ name }) => name === field)?.value.toLowerCase() ?? ''
  return (address: string): boolean => stands(address.toLowerCase(), said)
}

/** Whether the field has the address as a whole, and not as the end of a longer one. */
function stands(address: string, field: string): boolean {
  const isEdge = (char = ' ') => /[\s<>,;:()]/.test(char)
  for (let at = field.indexOf(address); at !== -1; at = field.indexOf(address, at + 1)) {
    if (isEdge(field[at - 1]) && isEdge(field[at + address.length])) return true
  }
  return false
}
