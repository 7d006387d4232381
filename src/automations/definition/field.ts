import { isoTime } from '../../clock/index.js'
import type { Json, JsonObject } from '../../json/index.js'
import { isVariable, type Variable } from '../../rules/index.js'
import type { Engagement, RunContact, StoredEvent } from './run.js'

/** What fields are read from. Before a run there is an event and a contact, and nothing else. */
export interface Facts {
  contact: RunContact | undefined
  trigger: StoredEvent | undefined
  /** The event that is being looked at, or the last one that the run heard. */
  event: StoredEvent | undefined
  waits: readonly { key: string; event: StoredEvent }[]
  mail(stepKey: string): Engagement | undefined
  /** When it is judged, in ms. */
  now: number
}

/** The fields of a contact that rules may read, beside its metadata. */
export const contactFields = ['id', 'email', 'firstName', 'lastName', 'phone', 'createdAt'] as const
/** What rules may ask of a step's mail. */
export const mailFields = ['opened', 'clicked', 'delivered', 'bounced'] as const

/** The value at a path such as `trigger.items.0.sku`; undefined where there is none. */
export function fieldOf(facts: Facts, path: string): Json | undefined {
  const [root, ...rest] = path.split('.')
  switch (root) {
    case 'contact':
      return facts.contact === undefined ? undefined : contactField(facts.contact, rest)
    case 'segment':
    case 'broadcast': {
      const [id = '', ...inside] = rest
      return facts.contact?.audience?.[[root, id.toLowerCase(), ...inside].join('.')]
    }
    case 'trigger':
      return within(facts.trigger?.payload, rest)
    case 'event':
      return within(facts.event?.payload, rest)
    case 'waits': {
      const [key, ...inside] = rest
      return within(facts.waits.find((wait) => wait.key === key)?.event.payload, inside)
    }
    case 'email': {
      const name = mailFields.find((field) => field === rest[1])
      if (rest.length !== 2 || name === undefined) return undefined
      return facts.mail(rest[0] ?? '')?.[name]
    }
  }
  return undefined
}

/** A value as it is given; for a variable, the value of the field that it names. */
export function resolve(facts: Facts, value: Json | Variable): Json | undefined {
  return isVariable(value) ? fieldOf(facts, value.var) : value
}

/** What conditions and templates see of a contact. */
export function shownContact(contact: RunContact): JsonObject {
  const { id, email, firstName, lastName, phone, metadata, createdAt } = contact
  const created = isoTime(createdAt)
  return { id, email, firstName, lastName, phone, metadata, createdAt: created }
}

/** Only the named fields: anything else of a contact is in its metadata. */
function contactField(contact: RunContact, [name = '', ...rest]: string[]): Json | undefined {
  if (name === 'metadata') return within(contact.metadata, rest)
  if (rest.length > 0 || !contactFields.some((field) => field === name)) return undefined
  return shownContact(contact)[name]
}

// Own properties only: no payload and no path reaches a prototype, nor a string's length.
function within(value: Json | undefined, path: string[]): Json | undefined {
  let at: Json | undefined = value
  for (const name of path) {
    if (typeof at !== 'object' || at === null) return undefined
    if (Array.isArray(at)) at = /^\d{1,6}$/.test(name) ? at[Number(name)] : undefined
    else at = Object.hasOwn(at, name) ? at[name] : undefined
  }
  return at
}
