import type { Form, PageRequest } from '../../http/index.js'
import type { Action, Actor, Role, Session } from './people.js'

/** A request, with what every handler of a page needs of it. */
export interface AskedPage<F = undefined> {
  params: Record<string, string>
  query: URLSearchParams
  /** What a POST with a form has sent, in the form's shape. */
  form: F
  /** Everything that was sent, including files, which `form` does not have. */
  fields: Form
  now: number
  requestId: string
  /** The path that was asked for, without the query. */
  path: string
  request: PageRequest
}

/** The visit of somebody who is logged in. */
export interface PersonVisit<F = undefined> extends AskedPage<F> {
  session: Session
  person: Session['person']
  /** For the audit log. */
  actor: Actor
}

/** The visit of an operator to the operator's pages. */
export interface OperatorVisit<F = undefined> extends PersonVisit<F> {
  /** Views show no button that would be refused. */
  may(action: Action): boolean
}

/** The visit to a page of an account. */
export interface Visit<F = undefined> extends OperatorVisit<F> {
  account: { id: string; name: string }
  /** `operator`: may only look. */
  role: Role
  /** Where this account's pages begin, `/a/<id>`. */
  base: string
}

/** A visit whose form was read. */
export type FilledVisit<V, F> = Omit<V, 'form'> & { form: F }
