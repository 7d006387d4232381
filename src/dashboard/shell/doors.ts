import { keepNewest } from '../../bounded/index.js'
import { type Clock, hourMs, isRecent } from '../../clock/index.js'
import { ApiError } from '../../errors/index.js'
import type { PageRequest } from '../../http/index.js'
import { type PageAnswer, redirect } from './answer.js'
import { nowhere, type PageSurroundings } from './layout.js'
import { accountPlaces, type NavigationEntry, navigation, operatorPlaces } from './navigation.js'
import { cameFrom, isOwnPost } from './own-page.js'
import type { Action, People, Role, Session } from './people.js'
import type { AskedPage, OperatorVisit, PersonVisit, Visit } from './visit.js'

/** Decides who may see the pages of one place, and what is shown around them. */
export interface Door<V extends AskedPage, A> {
  /** What the paths begin with. */
  prefix: string
  /**
   * The visit, or where the visitor has to go first. Throws an `ApiError`: 404 for what is not theirs, 403 for what
   * they may not do.
   */
  admit(asked: AskedPage, action: A): Promise<V | PageAnswer>
  around(visit: V): Promise<PageSurroundings>
  /** Around the page that says why somebody was not let in. */
  outside(asked: AskedPage): Promise<PageSurroundings>
  /** Whom the audit log names for actions here; undefined: the handlers write their own rows. */
  logged?: (visit: V) => { actor: PersonVisit['actor']; accountId: string | null }
  session(visit: V): Session | undefined
  /**
   * The action that lets a visitor in to be told that a path below the prefix has no page; without it nobody is told.
   */
  unknown?: A
}

/** What every door needs: who somebody is, and which pages were added. */
export interface DoorDeps {
  clock: Clock
  people: People
  sandbox: boolean
  /** Whether a page was added. */
  isThere(path: string): boolean
}

// An operator's look into an account is logged once an hour, so that reading on does not fill the log.
const lookedAgainMs = hourMs
// Bounds the memory. If all are forgotten, a few get a second row at most.
const mostLooks = 10_000

/** Around a page that refuses somebody: their name and where else they may go, if they are logged in. */
const outsideOf =
  ({ people, sandbox }: DoorDeps) =>
  async ({ request }: AskedPage): Promise<PageSurroundings> => {
    const session = await people.sessionOf(request)
    if (session === undefined) return { ...nowhere, sandbox }
    const { person } = session
    return { ...nowhere, sandbox, person, others: await placesOf(people, session) }
  }

/** For pages before the log-in: everybody may see them, and they show the name of a visitor who is logged in. */
export function openDoor(deps: DoorDeps): Door<AskedPage, 'open'> {
  const outside = outsideOf(deps)
  return {
    prefix: '',
    // No session is looked up here: the handlers of open pages ask for it where they need it.
    admit: async (asked) => asked,
    session: () => undefined,
    around: outside,
    outside,
  }
}

/** For a person's pages about themselves. */
export function personDoor(deps: DoorDeps): Door<PersonVisit, 'own'> {
  const { people, sandbox } = deps
  return {
    prefix: '',
    async admit(asked) {
      const session = await people.sessionOf(asked.request)
      if (session === undefined) return toLogIn(asked.request)
      return personVisit(people, asked, session)
    },
    outside: outsideOf(deps),
    session: ({ session }) => session,
    async around({ session, person }) {
      return { ...nowhere, sandbox, person, others: await placesOf(people, session) }
    },
  }
}

/**
 * For the operator's pages. Everybody else gets 404. An operator without a second factor has to add one first where
 * the settings demand it.
 */
export function operatorDoor(deps: DoorDeps): Door<OperatorVisit, Action> {
  const { people, sandbox } = deps
  return {
    prefix: '/operator',
    unknown: 'operator.read',
    async admit(asked, action) {
      const session = await people.sessionOf(asked.request)
      if (session === undefined) return toLogIn(asked.request)
      // Nobody but an operator is told what is there.
      if (!session.person.isOperator) throw notThere()
      if (session.mustAddFactor) return redirect('/me/totp')
      if (!people.may('operator', action)) throw notAllowed('operator', action)
      const may = (other: Action) => people.may('operator', other)
      return { ...personVisit(people, asked, session), may }
    },
    outside: outsideOf(deps),
    session: ({ session }) => session,
    logged: ({ actor }) => ({ actor, accountId: null }),
    async around({ session, person, path, may }) {
      const isShown = (entry: NavigationEntry) =>
        may(entry.action) && deps.isThere(`/operator${entry.path}`)
      return {
        ...nowhere,
        sandbox,
        person,
        place: { name: 'Operator', href: '/operator' },
        navigation: navigation(operatorPlaces, '/operator', path, isShown),
        others: await placesOf(people, session),
      }
    },
  }
}

/**
 * For an account's pages: members by their role, and operators, who may only look and whose looks
 * are logged.
 */
export function accountDoor(deps: DoorDeps): Door<Visit, Action> {
  const { people, sandbox } = deps
  const noteLook = makeNoteLook(deps)
  const outside = outsideOf(deps)
  const placeOf = (account: { id: string; name: string }, path: string, role: Role) => {
    const isShown = (entry: NavigationEntry) =>
      people.may(role, entry.action) && deps.isThere(`/a/:account${entry.path}`)
    const base = `/a/${account.id}`
    return {
      place: { name: account.name, href: base },
      navigation: navigation(accountPlaces, base, path, isShown),
      viewingAs: role === 'operator',
    }
  }
  return {
    prefix: '/a/:account',
    unknown: 'account.read',
    async admit(asked, action) {
      const session = await people.sessionOf(asked.request)
      if (session === undefined) return keptFor(asked.request) ?? toLogIn(asked.request)
      const standing = await people.roleIn(session.person, asked.params.account ?? '')
      // An account that does not exist and somebody else's get the same answer, so that ids cannot be tried out.
      if (standing === undefined) throw notThere()
      const { account, role } = standing
      // Operators see every account, so they need a second factor where others can reach the pages. In an account of
      // their own they are members like others.
      if (role === 'operator' && session.mustAddFactor) return redirect('/me/totp')
      if (!people.may(role, action)) throw notAllowed(role, action)
      const visit: Visit = {
        ...personVisit(people, asked, session),
        account,
        role,
        base: `/a/${account.id}`,
        may: (other) => people.may(role, other),
      }
      if (role === 'operator') await noteLook(visit)
      return visit
    },
    session: ({ session }) => session,
    logged: ({ actor, account }) => ({ actor, accountId: account.id }),
    async around({ session, person, path, account, role }) {
      const others = await placesOf(people, session)
      return { ...nowhere, sandbox, person, others, ...placeOf(account, path, role) }
    },
    async outside(asked) {
      const around = await outside(asked)
      const session = await people.sessionOf(asked.request)
      // A member who may not do this one thing keeps the navigation of their account; others learn nothing about the
      // account.
      const standing = session && (await people.roleIn(session.person, asked.params.account ?? ''))
      if (standing === undefined || session?.mustAddFactor) return around
      return { ...around, ...placeOf(standing.account, asked.path, standing.role) }
    },
  }
}

/** One row an hour for an operator who looks into an account. */
function makeNoteLook({ people, clock }: DoorDeps): (visit: Visit) => Promise<void> {
  const looked = new Map<string, number>()
  return async ({ session, account, actor }) => {
    const key = `${session.id} ${account.id}`
    const now = clock.now()
    if (isRecent(looked.get(key) ?? -lookedAgainMs, now, lookedAgainMs)) return
    keepNewest(looked, key, now, mostLooks)
    const entry = { actor, accountId: account.id, action: 'account.view-as', target: account.name }
    await people.note(entry)
  }
}

/** The visit of somebody who is logged in, with the actor that the audit log names. */
function personVisit(people: People, asked: AskedPage, session: Session): PersonVisit {
  const { person } = session
  return { ...asked, session, person, actor: people.actorOf(session, asked.request) }
}

/** The accounts of a person, and the operator's pages. */
async function placesOf(people: People, { person }: Session): Promise<PageSurroundings['others']> {
  const accounts = await people.membershipsOf(person.id)
  return [
    ...accounts.map(({ accountId, accountName }) => ({
      name: accountName,
      href: `/a/${accountId}`,
    })),
    ...(person.isOperator ? [{ name: 'Operator', href: '/operator' }] : []),
  ]
}

/** To the log-in. After it comes the page that was asked for, or for a POST the page that sent it. */
function toLogIn(request: PageRequest): PageAnswer {
  return redirect(`/login?next=${encodeURIComponent(pageOf(request))}`)
}

/** Where a form waits for a log-in (`entry/kept.ts`), and how much of one is kept at most. */
export const keptAt = '/login/kept'
export const mostKeptBytes = 1024 * 1024

/**
 * Where a form goes that somebody sent from a page of ours after their log-in had ended. Undefined where nothing is
 * kept: from a page elsewhere, which could make somebody send what they never saw; from a script; and of files.
 */
function keptFor(request: PageRequest): PageAnswer | undefined {
  if (request.method !== 'POST' || !isOwnPost(request)) return undefined
  if ((request.header('sec-fetch-mode') ?? 'navigate') !== 'navigate') return undefined
  const isForm = request.header('content-type')?.startsWith('application/x-www-form-urlencoded')
  const bytes = Number(request.header('content-length') ?? Number.NaN)
  if (!isForm || !(bytes <= mostKeptBytes)) return undefined
  const query = new URLSearchParams({ next: pageOf(request), to: pathOf(request) })
  return redirect(`${keptAt}?${query}`, { keepsForm: true })
}

/**
 * To the page that asks who is there, with the form. WCAG 2.2, 3.3.7: nobody should type the same twice. So that page
 * has the form's fields as hidden ones, and sends them back here after the proof (`entry/sudo.ts`).
 */
export function toProof(request: PageRequest): PageAnswer {
  const query = new URLSearchParams({ next: pageOf(request), to: pathOf(request) })
  return redirect(`/sudo/ask?${query}`, { keepsForm: true })
}

/** The page that a request asks for, or that it was sent from. */
function pageOf(request: PageRequest): string {
  return request.method === 'POST' ? (cameFrom(request) ?? '/') : pathOf(request)
}

/** What was asked for, with the query. */
function pathOf(request: PageRequest): string {
  const query = request.query.toString()
  return query === '' ? request.path : `${request.path}?${query}`
}

/** The words for an action's first part in a sentence, where the part itself would not do. */
const things: Record<string, string> = {
  account: 'the account',
  audit: 'the audit log',
  keys: 'API keys',
  plan: 'plan and usage',
  suppression: 'the suppression list',
  team: 'the team',
}
/** The words for an action's second part in a sentence. */
const verbs: Record<string, string> = { read: 'see', write: 'change', send: 'send' }

/** `keys.read` as people say it: see API keys. */
function inWords(action: string): string {
  const [thing = '', verb = ''] = action.split('.')
  return `${verbs[verb] ?? verb} ${things[thing] ?? thing}`
}

const notThere = () => new ApiError('not_found', 'There is no such page, or it is not yours')

/** A 403 that says which role is not enough, and whom to ask. */
function notAllowed(role: string, action: string): ApiError {
  const message =
    role === 'operator'
      ? 'Operators may only look into an account; its owners and members change it'
      : `Your role in this account is ${role}, which does not let you ${inWords(action)}: ask an owner of the account`
  return new ApiError('forbidden', message)
}
