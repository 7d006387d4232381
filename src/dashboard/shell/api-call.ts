import * as keysAndBrand from '../../accounts/contract.js'
import * as automations from '../../automations/contract.js'
import * as billing from '../../billing/contract.js'
import * as broadcasts from '../../broadcasts/contract.js'
import * as contactFields from '../../contact-fields/contract.js'
import * as contacts from '../../contacts/contract.js'
import type { Operation } from '../../contract/index.js'
import * as dmarc from '../../dmarc/contract.js'
import * as domains from '../../domains/contract.js'
import * as emails from '../../emails/contract.js'
import * as erasure from '../../erasure/contract.js'
import * as forms from '../../forms/contract.js'
import * as pictures from '../../pictures/contract.js'
import * as receiving from '../../receiving/contract.js'
import * as inbox from '../../sandbox/contract.js'
import * as segments from '../../segments/contract.js'
import * as stats from '../../stats/contract.js'
import * as suppression from '../../suppression/contract.js'
import * as surges from '../../surges/contract.js'
import * as templates from '../../templates/contract.js'
import * as topics from '../../topics/contract.js'
import * as webhooks from '../../webhooks/contract.js'

/** The operations of each domain, for views: `ui.api.topics.createTopic`. */
export const api = {
  keysAndBrand,
  automations,
  billing,
  broadcasts,
  contactFields,
  contacts,
  // The phone numbers of examples include their country.
  addContact: contacts.addContactTo(''),
  updateContact: contacts.updateContactIn(''),
  dmarc,
  domains,
  emails,
  erasure,
  forms,
  pictures,
  inbox,
  segments,
  stats,
  suppression,
  receiving,
  surges,
  templates,
  topics,
  webhooks,
}

/** A request as people type it: `PATCH /v1/topics/01a…` and, in a line of its own, the body. Only `call` makes one. */
export interface ApiCall {
  readonly operation: Operation
  readonly text: string
}

interface Given<Query, Body> {
  query?: URLSearchParams | { readonly [K in keyof Query]?: string | number | boolean | undefined }
  /** Where it is not given, the contract's first example. */
  body?: { readonly [K in keyof Body]?: Body[K] | undefined }
}

/** What a request contains; `of` has the values of its path, where the path has any. */
type Request<Params, Query, Body> = keyof Params extends never
  ? [given?: Given<Query, Body>]
  : [given: { of: { readonly [K in keyof Params]: string | number } } & Given<Query, Body>]

/** The request of an operation. The compiler refuses what the contract does not have, in views too. */
export function call<Params, Query, Body>(
  operation: Operation<Params, Query, Body>,
  ...[given]: Request<Params, NoInfer<Query>, NoInfer<Body>>
): ApiCall {
  const { of = {}, query, body } = (given ?? {}) as Given<Query, Body> & { of?: object }
  const named = new Map<string, string | number>(Object.entries(of))
  const path = operation.route.replaceAll(/:(\w+)/g, (_, name: string) =>
    encodeURIComponent(named.get(name) ?? name),
  )
  const search = `${query instanceof URLSearchParams ? query : searchOf(query ?? {})}`
  const sent = body ?? operation.describe().body?.examples[0]?.value
  return {
    operation,
    text: [
      search === '' ? path : `${path}?${search}`,
      ...(sent === undefined ? [] : [written(sent)]),
    ].join('\n'),
  }
}

function searchOf(query: object): URLSearchParams {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) search.append(name, String(value))
  }
  return search
}

/** JSON, in one line if it is short. */
function written(value: unknown): string {
  const lines = JSON.stringify(value, undefined, 2)
  const line = lines.replaceAll(/\n */g, ' ')
  return line.length <= 120 ? line : lines
}
