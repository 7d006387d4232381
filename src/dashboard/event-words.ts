import { dateEvent } from '../automations/index.js'
import { startedByHand } from '../events/index.js'

// What the appliance's own events are, in a sentence that begins with 'When'.
const ownEvents: Readonly<Record<string, string>> = {
  '$contact.created': 'somebody becomes a contact',
  '$list.joined': 'somebody joins a list',
  '$segment.joined': 'somebody comes into a segment',
  '$segment.left': 'somebody leaves a segment',
  '$form.confirmed': 'somebody confirms a form',
  [dateEvent]: 'a date of somebody comes, such as a birthday',
  [startedByHand.crowd]: 'an automation is started for a list or a segment',
  [startedByHand.one]: 'an automation is started for somebody by hand',
  '$email.opened': 'somebody opens a mail',
  '$email.clicked': 'somebody clicks in a mail',
  '$email.bounced': 'a mail to somebody bounces',
}

/** An event in words that follow 'When' or 'until': `“order.paid” comes`. */
export const eventWords = (name: string): string =>
  ownEvents[name] ?? (name === '' ? 'something happens' : `“${name}” comes`)

/** An event as a title: the name that an application gave it, or what one of the appliance is. */
export const eventTitle = (name: string): string =>
  name.startsWith('$') ? `When ${eventWords(name)}` : name
