import { randomBytes } from 'node:crypto'
import type { Struct } from 'superstruct'
import { ApiError } from '../../errors/index.js'
import { ShapeError } from '../../fields/index.js'
import type { PageRequest, PageShape, Pages, Page as Sent } from '../../http/index.js'
import { type PageAnswer, page } from './answer.js'
import {
  accountDoor,
  type Door,
  type DoorDeps,
  openDoor,
  operatorDoor,
  personDoor,
  toProof,
} from './doors.js'
import { type ExportSeats, makeExportSeats } from './exports.js'
import { type Faults, faultsIn, faultsOf, formOf } from './faults.js'
import { type Flash, makeFlash } from './flash.js'
import type { PageSurroundings } from './layout.js'
import { linkTo } from './listing.js'
import { type NodeMemory, ownMemory } from './node-memory.js'
import { type Deed, makeOnceForms, type OnceForms } from './once.js'
import { refuseOthersPosts } from './own-page.js'
import type { Action } from './people.js'
import { sendAnswer } from './send.js'
import type { AskedPage, FilledVisit, OperatorVisit, PersonVisit, Visit } from './visit.js'

/** What the shell itself needs; the shell tells its doors which pages there are. */
export type ShellDeps = Omit<DoorDeps, 'isThere'> & {
  /** Signs messages for the next page; the same at all nodes. */
  flashKey?: Buffer
  memory?: NodeMemory
}

/** Where the pages of one place are added. Paths are below the place: `/keys` for `/a/:account/keys`. */
export interface SessionPages<V, A> {
  get(path: string, action: A, show: (visit: V) => Promise<PageAnswer>): void
  post<F = undefined>(
    path: string,
    options: PostOptions<V, A, F>,
    act: (visit: FilledVisit<V, F>) => Promise<PageAnswer>,
  ): void
}

/** Pages below `/a/:account`, for people who have a role there. */
export type AccountPages = SessionPages<Visit, Action>
/** Pages below `/operator`. */
export type OperatorPages = SessionPages<OperatorVisit, Action>
/** A person's pages about themselves. */
export type PersonPages = SessionPages<PersonVisit, 'own'>
/** Pages for everybody. */
export type OpenPages = SessionPages<AskedPage, 'open'>

export interface PostOptions<V, A, F> {
  action: A
  /** The shape of the form; a field of several values is an array there, and files are in `visit.fields`. */
  form?: Struct<F>
  /** Asks for a factor again, unless that was done a short time ago. */
  sudo?: true
  /** The POST changes nothing, such as a preview, so the audit log gets no row. */
  reads?: true
  /** Default 64 KiB. */
  maxBodyBytes?: number
  /** A file in this field comes piece by piece (`visit.request.upload()`); `fields` is empty then. */
  upload?: string
  /**
   * The page of the form, once more: for a form that does not fit and for a refusal by the domain's function. It is
   * answered as 422 (429 and 503 stay what they are), with the faults above the page and in it (`ui.field`).
   */
  again?: (visit: V, faults: Faults) => Promise<PageAnswer>
}

/** A page that was added; the tests visit all of them. */
export interface AddedPage {
  method: 'GET' | 'POST'
  path: string
  action: string
}

export interface Shell {
  account: AccountPages
  operator: OperatorPages
  /** A person's pages about themselves, for everybody who is logged in. */
  person: PersonPages
  /** Without a session: the log-in, the sandbox. */
  open: OpenPages
  added: readonly AddedPage[]
  /**
   * To be called once all pages are added. When a form comes back with faults, its own address is in the browser's
   * address bar; opened again, that address leads to the page of the form.
   */
  leadBack(): void
}

/** The only way in for pages that know who looks at them. */
export function makeShell(pages: Pages, deps: ShellDeps): Shell {
  const added: AddedPage[] = []
  const isThere = (path: string) => added.some((one) => one.method === 'GET' && one.path === path)
  const doors = { ...deps, isThere }
  const flash = makeFlash(() => deps.clock.now(), deps.flashKey ?? randomBytes(32))
  const seats = makeExportSeats()
  const { memory = ownMemory() } = deps
  const once = makeOnceForms(deps.clock, memory)
  const place = <V extends AskedPage, A extends string>(door: Door<V, A>) =>
    makePlace(pages, { ...deps, flash, added, seats, once, memory }, door)
  return {
    account: place(accountDoor(doors)),
    operator: place(operatorDoor(doors)),
    person: place(personDoor(doors)),
    open: place(openDoor(doors)),
    added,
    leadBack() {
      for (const { path } of added.filter(({ method }) => method === 'POST')) {
        if (!path.startsWith('/a/') || isThere(path)) continue
        const parts = path.split('/')
        while (parts.length > 2 && !isThere(parts.join('/'))) parts.pop()
        if (parts.length <= 2) continue
        const most = parts.length
        pages.get(path, ({ path: asked, query }) => ({
          redirect: linkTo(asked.split('/').slice(0, most).join('/'), Object.fromEntries(query)),
          status: 303,
        }))
      }
    },
  }
}

const mostParts = 9

/** One place's pages: each handler is called only for visitors whom its door let in. */
function makePlace<V extends AskedPage, A extends string>(
  pages: Pages,
  deps: ShellDeps & {
    flash: Flash
    added: AddedPage[]
    seats: ExportSeats
    once: OnceForms
    memory: NodeMemory
  },
  door: Door<V, A>,
): SessionPages<V, A> {
  const { clock, people, flash, added, seats, once, memory } = deps
  const audit = { people, door }

  /** Lets somebody in, has the handler serve them, and shows errors in the product's look. */
  async function serve<R extends Sent | undefined>(
    request: PageRequest,
    action: A,
    handle: (visit: V, send: (answer: PageAnswer) => Promise<Sent>) => Promise<R>,
  ): Promise<Sent | R> {
    // One time for the whole page, so that all times on it and all rights are judged by the same moment.
    const asked = { ...askedOf(request), now: clock.now() }
    let visit: V | undefined
    // Made only for whole pages, as it costs queries that a redirect or a file would waste.
    const around = async () => {
      const message = flash.read(request)
      const all = await (visit === undefined ? door.outside(asked) : door.around(visit))
      return { ...all, flash: message }
    }
    const send = async (answer: PageAnswer) => {
      const sent = await sendAnswer(answer, around, memory.newId)
      if (answer.kind === 'page' && flash.read(request) !== undefined) {
        return withCookie(sent, flash.forget)
      }
      if (answer.kind === 'redirect' && answer.flash !== undefined) {
        return withCookie(sent, flash.keep(answer.flash))
      }
      return sent
    }
    try {
      const admitted = await door.admit(asked, action)
      if ('kind' in admitted) return await send(admitted)
      visit = admitted
      return await handle(visit, send)
    } catch (error) {
      // Anything else is a bug: `http` logs it and answers with a 500 without details.
      if (!(error instanceof ApiError) && !(error instanceof ShapeError)) throw error
      // Taken from `outside`, because there is no visit where the door refused it.
      const { place } = await door.outside(asked)
      return await send(errorAnswer(error, request.requestId, place))
    }
  }

  // A path without a page is answered with the usual surroundings: the navigation, and the visitor's name. The router
  // cannot match a path of any length, and none of our paths has more parts.
  for (let path = door.prefix; path.split('/').length < mostParts && door.unknown; ) {
    const action = door.unknown
    path += `/:part${path.split('/').length}`
    pages.get(path, (request) =>
      serve(request, action, async () => {
        throw new ApiError('not_found', 'There is no page here')
      }),
    )
  }

  return {
    get(path, action, show) {
      const whole = door.prefix + path
      added.push({ method: 'GET', path: whole, action })
      pages.get(whole, (request) =>
        serve(request, action, async (visit, send) => {
          const answer = await show(visit)
          if (answer.audit !== undefined) {
            // A GET with `audit` exports a whole list. The seat is taken before the row of the log is written:
            // whoever gets no seat has exported nothing.
            seats.take(door.session(visit)?.person.id ?? '', request.signal)
            await note(audit, visit, action, answer)
          }
          return send(answer)
        }),
      )
    },
    post(path, options, handler) {
      const whole = door.prefix + path
      added.push({ method: 'POST', path: whole, action: options.action })
      const { action, maxBodyBytes, upload, sudo = false } = options
      const shape: PageShape = {
        ...(maxBodyBytes !== undefined && { maxBodyBytes }),
        ...(upload !== undefined && { upload }),
        // No body is read, or kept, before we know who sent it.
        admit: (request) =>
          serve(request, action, async (visit, send) => {
            const elsewhere = sentAway(door, visit, sudo)
            return elsewhere && (await send(elsewhere))
          }),
      }
      pages.post(whole, shape, (request) =>
        // The door is asked once more after the body: the session may have ended while a large one
        // was sent.
        serve(request, action, async (visit, send) => {
          const person = door.session(visit)?.person
          const who = person?.id
          const work = () => act(visit, options, handler, person?.timeZone ?? 'UTC')
          // The answer to a log-in contains the session, so a form from somebody without one is answered anew each
          // time.
          const isAnew = options.reads || who === undefined
          const { answer, done } = isAnew ? await work() : await once.run(who, request, work)
          // Noted after the work, so that the log does not show failed work as done.
          if (done) await note(audit, visit, action, answer)
          return send(answer)
        }),
      )
    },
  }
}

/**
 * Checks before the body of a POST is read: it must come from a page of ours, and a factor must have been given where
 * that is asked for.
 */
function sentAway<V extends AskedPage, A extends string>(
  door: Door<V, A>,
  visit: V,
  sudo: boolean,
): PageAnswer | undefined {
  const { request } = visit
  refuseOthersPosts(request)
  const session = door.session(visit)
  if (!sudo || session === undefined || session.sudoUntil > visit.now) return undefined
  return toProof(request)
}

/** Gives the form to its handler. */
async function act<V extends AskedPage, A extends string, F>(
  visit: V,
  options: PostOptions<V, A, F>,
  handler: (visit: FilledVisit<V, F>) => Promise<PageAnswer>,
  zone: string,
): Promise<Deed> {
  const { request } = visit
  try {
    const form = options.form && formOf(request.form, options.form)
    const answer = await handler({ ...visit, form } as unknown as FilledVisit<V, F>)
    return { answer, done: options.reads !== true }
  } catch (error) {
    const found = faultsOf(error, request.form, options.form)
    if (found === undefined || options.again === undefined) throw error
    const faults = faultsIn(found, zone)
    const answer = await options.again(visit, faults)
    if (answer.kind !== 'page') return { answer, done: false }
    // RFC 9110 §15.5.21: 422 is for a form that was understood but whose content is refused. Whatever the status, the
    // answer is the page with the form, so that what was typed is kept.
    const { status, headers } = comesAgain(error) ? error : { status: 422, headers: {} }
    const look = { status, faults, ...answer.look }
    return {
      answer: { ...answer, look, headers: { ...answer.headers, ...headers } },
      done: false,
    }
  }
}

/** Notes in the audit log what was done, for places whose visitors are logged there. */
async function note<V extends AskedPage, A extends string>(
  { people, door }: { people: ShellDeps['people']; door: Door<V, A> },
  visit: V,
  action: A,
  answer: PageAnswer,
): Promise<void> {
  const logged = door.logged?.(visit)
  const { audit } = answer
  if (logged === undefined || audit === 'noted') return
  await people.note({
    ...logged,
    action: audit?.action ?? action,
    target: audit?.target ?? visit.path,
    ...(audit?.accountId !== undefined && { accountId: audit.accountId }),
    ...(audit?.detail && { detail: audit.detail }),
  })
}

/** What handlers need of a request; `form` is set once the body was read. */
function askedOf(request: PageRequest): Omit<AskedPage, 'now'> {
  const { params, query, form: fields, requestId, path } = request
  return { params, query, fields, requestId, path, request, form: undefined }
}

/** Adds a cookie to those that the answer already sets: a header of this name may occur several times. */
function withCookie(sent: Sent, cookie: string): Sent {
  const given = sent.headers?.['Set-Cookie']
  const others = given === undefined ? [] : Array.isArray(given) ? given : [given]
  return { ...sent, headers: { ...sent.headers, 'Set-Cookie': [...others, cookie] } }
}

/** Whether the same form may succeed a little later. Programs that wait go by the status and Retry-After. */
const comesAgain = (error: unknown): error is ApiError =>
  error instanceof ApiError && (error.status === 429 || error.status === 503)

/** Headings of the page that tells what went wrong, by status. */
const titles: Record<number, string> = {
  403: 'You may not do that',
  404: 'Page not found',
  422: 'That cannot be done',
}

/** An error in the product's look. It has the request's id, by which the operator finds the log line. */
function errorAnswer(
  error: ApiError | ShapeError,
  requestId: string,
  place: PageSurroundings['place'],
): PageAnswer {
  const status = error instanceof ShapeError ? 422 : error.status
  const title = titles[status] ?? (status >= 500 ? 'Not now' : 'That cannot be done')
  const headers = error instanceof ShapeError ? {} : error.headers
  const view = { title, message: error.message, requestId, place }
  return page('shell/error', view, { title, status, headers })
}
