import type { Form, PageRequest } from '../../http/index.js'
import type { Action, Actor, Role, Session } from './people.js'

/** A request, with what every handler of a page needs of it. */
export interface AskedPage<F = undefined> {
  params: Record<string, string>
  query: URLSearchParams
  /** What a POST with a form has sent, in the form's shape. */
  form: F
  /** All that was sent, with its files, which `form` has not. */
  fields: Form
  now: number
  requestId: string
  /** What was asked for, without the query. */
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

/** To a page of an account. */
export interface Visit<F = undefined> extends OperatorVisit<F> {
  account: { id: string; name: string }
  /** `operator`: only looks. */
  role: Role
  /** Where this account's pages begin, `/a/<id>`. */
  base: string
}

/** A visit whose form was read. */
export type FilledVisit<V, F> = Omit<V, 'form'> & { form: F }
