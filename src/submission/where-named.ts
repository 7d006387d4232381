import type { SendInput } from '../emails/index.js'
import type { HeaderField } from '../mime/index.js'
import type { Understood } from './message.js'

/** The recipients by where readers see them. Marketing mail has no copies: each leaves by a link of its own. */
export function whereNamed(
  { wishes, kept }: Understood,
  recipients: readonly string[],
): Pick<SendInput, 'to' | 'cc' | 'bcc'> {
  const to = recipients.filter(namedIn(kept, 'to'))
  if (wishes.type === 'marketing' || to.length === 0) return { to: [...recipients] }
  const others = recipients.filter((address) => !to.includes(address))
  const cc = others.filter(namedIn(kept, 'cc'))
  const bcc = others.filter((address) => !cc.includes(address))
  return { to, ...(cc.length > 0 && { cc }), ...(bcc.length > 0 && { bcc }) }
}

/** Whether a field of addresses names one. */
export function namedIn(fields: readonly HeaderField[], field: string) {
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
