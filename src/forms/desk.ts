import { type AskFirst, wantConfirmation } from '../contacts/index.js'
import { neighbourhoodOf } from '../http/index.js'
import type { Mailbox } from '../mime/index.js'
import type { Read } from '../store/index.js'
import { askByMail, reasonOf } from './ask.js'
import { countedAddress, mayAskAddress } from './asked-addresses.js'
import { askByHand } from './by-hand.js'
import { isCarefulForm } from './careful.js'
import type { FormDeskDeps } from './deps.js'
import {
  type Agreed,
  type FormEntry,
  findEntry,
  insertEntry,
  type Typed,
  waitsMs,
} from './entry.js'
import { findForm, listsThere, type SignupForm } from './form.js'
import type { HeldReason } from './limits.js'
import { remindEntries } from './remind.js'
import { type FormLimits, makeFormLimits } from './sent-in-limits.js'
import { isStranger, signUp } from './sign-up.js'
import { hasWorked, workOf } from './work.js'

/** A submitted form that is known to be complete. */
export interface SentForm {
  mailbox: Mailbox
  typed: Typed
  page: string
  /** The whole IP address of the client; undefined where nobody has told it. */
  network: string | undefined
  /** A browser has done the work that a careful form asks for. */
  hasWorked?: boolean
  /** Whether the address may be asked at once without that work (`mayAtOnce`); undefined: not checked yet. */
  atOnce?: boolean
}

interface GivenWork {
  stamp: string
  number: string
}

export type FormDesk = ReturnType<typeof makeFormDesk>

/**
 * Takes in submitted forms, and what their mails confirm. Whatever happens with it, the sender of a form is told the
 * same.
 */
export function makeFormDesk(deps: FormDeskDeps) {
  const limits = makeFormLimits(deps.clock, deps.counts)
  return {
    /** Undefined: the mail is on disk. Otherwise why there is none; only the form's figures tell that. */
    async submit(form: SignupForm, given: SentForm): Promise<HeldReason | undefined> {
      deps.tallies.sentIn(form.id)
      const reason = await submitted(deps, limits, form, given)
      if (reason !== undefined) deps.tallies.held(form.id, reason)
      return reason
    },
    /**
     * Whether one more address from a network is asked at once without work; counts it. A careful form has limits of
     * its own.
     */
    mayAtOnce: (form: SignupForm, network: string | undefined): boolean =>
      isCarefulForm(form, deps.clock.now()) || limits.mayAtOnce({ formId: form.id, network }),
    /** Undefined: the entry was deleted. Throws where the account may add nobody now; then the entry stays. */
    confirm: (entryId: string) => confirm(deps, entryId),
    /** The work that a browser must do before it sends a form; 0 bits: none. */
    work(form: SignupForm): { stamp: string; bits: number } {
      const bits = workOf(form, deps.clock.now()) ?? 0
      return { stamp: deps.tokens.stamp(form.publicId), bits }
    },
    /** Whether that work was done for this address, on a page or by a script. */
    hasWorked(form: SignupForm, email: string, { stamp, number }: GivenWork): boolean {
      const { verdict } = deps.tokens.readStamp(form.publicId, stamp)
      return (verdict === 'good' || verdict === 'quick') && hasWorked(stamp, email, number)
    },
    /** Asks somebody whom the account itself adds. */
    askFirst: (...asked: Parameters<AskFirst>) => askByHand(deps, limits, ...asked),
    remind: (stop: AbortSignal) => remindEntries(deps, limits, stop),
  }
}

async function submitted(
  deps: FormDeskDeps,
  limits: FormLimits,
  form: SignupForm,
  given: SentForm,
): Promise<HeldReason | undefined> {
  const { store, clock } = deps
  const now = clock.now()
  if (form.stoppedAt !== null) return 'stopped'
  const asked = {
    formId: form.id,
    isCareful: isCarefulForm(form, now),
    hasWorked: given.hasWorked ?? false,
    network: given.network,
    domain: given.mailbox.domain,
  }
  const atOnce = asked.hasWorked || asked.isCareful || (given.atOnce ?? limits.mayAtOnce(asked))
  const held = limits.ofSender(asked)
  if (held !== undefined) return held
  const { address: email } = given.mailbox
  const entry = newEntry(deps, form, given)
  const isAlone =
    !(await asksAlways(store.read, form)) && (await isStranger(store.read, form.accountId, email))
  const hash = deps.tokens.hashOf(form.accountId, countedAddress(email))
  // Checked here so that an address that was asked enough uses up nothing; it is counted with the mail.
  if (!isAlone && !(await mayAskAddress(store.read, form.accountId, hash, now))) return 'address'
  if (!atOnce) return await keepForLater(deps, limits, entry)
  const full = limits.ofForm(asked)
  if (full !== undefined) return full
  if (isAlone) {
    try {
      if (await signUp(deps, form, entry, 'asTyped')) return undefined
    } catch (error) {
      return reasonOf(deps, error)
    }
  }
  const { reminder: isReminded } = form.settings
  return await askByMail(deps, form, entry, {
    isReminder: false,
    alongside: (tx, mailId) => insertEntry(tx, entry, { isReminded, mailId }),
  })
}

/** Asks an hour later, as the network has sent in several. Nobody is kept whom the account could not ask at all. */
async function keepForLater(
  { store }: FormDeskDeps,
  limits: FormLimits,
  entry: FormEntry,
): Promise<HeldReason> {
  if (!limits.mayLater(entry.formId)) return 'network'
  await store.write((tx) => insertEntry(tx, entry, { isReminded: false }))
  return 'later'
}

/** Whether the form, or any of its lists, wants a confirmation. */
async function asksAlways(read: Read, { accountId, settings }: SignupForm): Promise<boolean> {
  if (settings.doubleOptIn) return true
  const lists = await listsThere(read, accountId, settings.lists)
  return await wantConfirmation(read, accountId, lists)
}

function newEntry({ store, clock }: FormDeskDeps, form: SignupForm, given: SentForm): FormEntry {
  const { keepAddress, consent } = form.settings
  const { network = '' } = given
  const kept = {
    none: '',
    whole: network,
    shortened: network === '' ? '' : neighbourhoodOf(network),
  }
  const agreed: Agreed = {
    version: form.version,
    text: consent,
    page: given.page,
    address: kept[keepAddress],
  }
  const now = clock.now()
  return {
    id: store.ids.uuid(),
    formId: form.id,
    accountId: form.accountId,
    email: given.mailbox.address,
    typed: given.typed,
    agreed,
    state: 'waiting',
    createdAt: now,
    expiresAt: now + waitsMs,
  }
}

async function confirm(deps: FormDeskDeps, entryId: string): Promise<SignupForm | undefined> {
  const { store, clock } = deps
  const entry = await findEntry(store.read, entryId, clock.now())
  if (entry === undefined) return undefined
  const form = await findForm(store.read, entry.accountId, entry.formId)
  if (entry.state === 'waiting') await signUp(deps, form, entry, 'confirmed')
  return form
}
