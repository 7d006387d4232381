import { dayMs, type TimeOfDay, type Window } from '../../clock/index.js'
import type { Json } from '../../json/index.js'
import type { Rule, Variable } from '../../rules/index.js'
import type { MailTag } from '../../store/index.js'

/*
 * What an automation is made of, as clients write it and as versions keep it (decisions.md,
 * 'Automations'). `validate` makes sure that what is kept has this shape.
 */

/** Names of events that clients may send (decisions.md). */
export const eventNameForm = /^[A-Za-z0-9_.:-]{1,100}$/
/** The form of a step's key. It stands in paths such as `waits.KEY.NAME`, so it has no dot. */
export const stepKey = /^[a-z0-9_-]{1,64}$/

/** In which zone a time is read: an IANA name, or "contact" (the default), see `zoneOf`. */
interface InZone {
  zone?: string
}

/** How often a contact may go through: again once the run has ended, once, or after a duration. */
export type Reentry = 'after_end' | 'once' | { after: string }

/** The day of a contact's field on which runs start, in place of an event. */
export interface DateOf extends InZone {
  /** In the metadata: `birthday` or `metadata.birthday`; a text such as `1990-02-28`, or `--02-28` without a year. */
  field: string
  /** So many days after it, or before it where it is less than 0; 0 by default. */
  days?: number
  /** "09:00" by default. */
  time?: string
  /** "yearly" by default; "once" is in its own year alone. */
  repeat?: 'yearly' | 'once'
}

/** The event that starts runs, for whom, and how often. */
export interface TriggerConfig {
  eventName: string
  /** With the name `$contact.date`, and with no other. */
  date?: DateOf
  filter?: Rule
  /** "after_end" by default (automations.md, O3). */
  reentry?: Reentry
}

/** A mail: as a send by the API, but for one contact and by a template only. */
export interface SendConfig {
  /** Slug; its newest version, or the one that `templateVersion` names. */
  template: string
  from: string
  subject?: string
  replyTo?: string | string[]
  headers?: Record<string, string>
  tags?: MailTag[]
  variables?: Record<string, Json | Variable>
  /** "marketing" by default. */
  type?: 'marketing' | 'transactional'
  /** The topic of marketing mail, which alone has one. */
  topicId?: string
  templateVersion?: number
}

/** Either a duration of elapsed time (ISO 8601), or a time of day. */
export interface DelayConfig {
  duration?: string
  until?: TimeOfDay & InZone
}

/** Waits for an event of the contact, up to a timeout. */
export interface WaitConfig {
  eventName: string
  filter?: Rule
  /** ISO 8601; 90 days by default. */
  timeout?: string
  /** Whether an event counts that came before this step, but after the run began ("run"). */
  since?: 'run' | 'step'
}

/** Changes the contact. */
export interface UpdateConfig {
  /** Null takes the name away. */
  firstName?: string | null | Variable
  lastName?: string | null | Variable
  /** Laid over what is known, key by key; null removes a key. */
  metadata?: Record<string, Json | Variable>
}

/** One way out of a split, and its share of the contacts. */
export interface Branch {
  key: string
  /** All of a split's branches add up to 100. */
  percent: number
}

/** Tells one endpoint of the account that the run is here. */
export interface WebhookConfig {
  /** One of the account's webhook endpoints. */
  endpointId: string
  payload?: Record<string, Json | Variable>
}

interface StepConfigs {
  trigger: TriggerConfig
  send_email: SendConfig
  delay: DelayConfig
  wait_for_event: WaitConfig
  condition: Rule
  contact_update: UpdateConfig
  split: { branches: Branch[] }
  webhook: WebhookConfig
  /** What the run's `reason` is to be; `exit_step` by default. */
  exit: { reason?: string }
}
/** The types of steps. */
export const stepTypes = [
  'trigger',
  'send_email',
  'delay',
  'wait_for_event',
  'condition',
  'contact_update',
  'split',
  'webhook',
  'exit',
] as const satisfies readonly (keyof StepConfigs)[]
export type StepType = (typeof stepTypes)[number]
/**
 * The step of a type, with the config that belongs to it. `name`: what people call it; runs, rules and moves know it by
 * its key.
 */
export type StepOf<T extends StepType> = T extends StepType
  ? { key: string; type: T; config: StepConfigs[T]; name?: string }
  : never
export type StepDefinition = StepOf<StepType>

/** The ways out of a step; which type has which is in `graph.ts`. */
export const edgeTypes = [
  'default',
  'condition_met',
  'condition_not_met',
  'event_received',
  'timeout',
  'branch',
] as const
export type EdgeType = (typeof edgeTypes)[number]

/** An edge of the graph, by the keys of its steps. */
export interface Connection {
  from: string
  to: string
  type: EdgeType
  /** The key of the split's branch, for a connection of type `branch`. */
  branch?: string
}

/** An event, perhaps only where a rule holds. */
export interface ExitRule {
  eventName: string
  filter?: Rule
}

/** What holds for the automation as a whole. */
export interface AutomationSettings {
  /** Events that end a run wherever it is. */
  exitOn?: ExitRule[]
  /** The event that is the aim of a run: it ends the run, or moves it to the step `to`. */
  goal?: ExitRule & { to?: string }
  /** An IANA name, for contacts who have none of their own; UTC by default. */
  timeZone?: string
  /** When mail of this automation may be made; outside of it the run waits at its send step. */
  sendWindow?: Window & InZone
  /** How many mails the automation makes in any hour. */
  maxPerHour?: number
  /** "continue" only where every send is transactional (automations.md, O8). */
  onUnsubscribe?: 'exit' | 'continue'
}

/** An automation as it is written, shown and kept. */
export interface AutomationDefinition {
  steps: StepDefinition[]
  connections: Connection[]
  settings?: AutomationSettings
}

// The longest that a run waits for anything.
export const maxWaitMs = 90 * dayMs
/** The timeout of a wait for an event that names none. */
export const usualTimeout = 'P90D'

// The bounds of automations.md §3.8: what one account's automations may cost the others.
export const limits = {
  steps: 100,
  definitionBytes: 256 * 1024,
  /** A definition of 256 KiB can have 100,000 faults; the message says how many there are. */
  faultsTold: 200,
  /** Steps that one walk takes before it lets others have their turn. */
  stepsPerWalk: 100,
  stepsPerRun: 1_000,
  mailsPerRun: 100,
  runAgeMs: 400 * dayMs,
  startsPerHour: 20,
  eventAgeMs: dayMs,
  /** Mails in a row of automations that set each other off. */
  depth: 5,
  historyEntries: 200,
  contactMetadataBytes: 16 * 1024,
  nameLength: 200,
} as const
