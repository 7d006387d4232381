import { array, optional, string, type } from 'superstruct'
import * as operations from '../../accounts/contract.js'
import {
  accountLanguages,
  type Brand,
  brandOf,
  changeBrand,
  checkBrand,
  contrastOf,
  shownContrast,
} from '../../accounts/index.js'
import { auditOf, checked } from '../../contract/index.js'
import { verifiedDomains } from '../../domains/index.js'
import { ApiError } from '../../errors/index.js'
import { sampleConfirmation } from '../../forms/index.js'
import type { Form } from '../../http/index.js'
import { parseMailbox } from '../../mime/index.js'
import { sampleFooter } from '../../preferences/index.js'
import type { Read } from '../../store/index.js'
import { type PageAnswer, page, redirect } from '../shell/answer.js'
import { checkAll, type Faults, noFaults } from '../shell/faults.js'
import type { Html } from '../shell/html.js'
import type { AccountPages } from '../shell/page.js'
import { markOf, markPart, refuseStale, type StoredNow } from '../shell/stale.js'
import type { Visit } from '../shell/visit.js'
import { sampleFrame } from '../templates/rendered.js'
import type { BrandPageDeps } from './deps.js'

/** How the account looks to recipients. */
interface BrandView {
  base: string
  mayWrite: boolean
  brand: Brand
  contrasts: string
  /** The sender's domain, where no mail can come from it. */
  unverified: string | undefined
  languages: { value: string; label: string }[]
  colours: { name: string; label: string; value: string }[]
  /** Where the past campaigns are; undefined: there are none. */
  archive: string | undefined
  /** What recipients see, each in a frame. */
  frames: { title: string; src: string }[]
  /** What its form was filled with. */
  mark: Html
  faults: Faults
}

const BrandForm = type({
  background: string(),
  text: string(),
  button: string(),
  buttonText: string(),
  postalAddress: string(),
  languages: array(string()),
  senderName: string(),
  defaultFrom: string(),
  archiveListed: optional(string()),
})

/** What the form says of a brand, field by field. */
const saidOf = ({ colours, ...brand }: Brand): (StoredNow & { name: string })[] => [
  { name: 'background', label: 'Background', value: colours.background },
  { name: 'text', label: 'Text', value: colours.text },
  { name: 'button', label: 'Button', value: colours.button },
  { name: 'buttonText', label: 'Words on the button', value: colours.buttonText },
  { name: 'postalAddress', label: 'Postal address', value: brand.postalAddress },
  { name: 'senderName', label: 'Sender', value: brand.senderName },
  { name: 'defaultFrom', label: 'Sender’s address', value: brand.defaultFrom },
]

const languagesOf = ({ languages }: Brand) =>
  languages.map((one) => accountLanguages[one]).join(', ')

/** Of what the form about the brand is filled with. */
const markOfBrand = (brand: Brand): string =>
  markOf([saidOf(brand), languagesOf(brand), brand.archiveListed])

/** What is stored of a brand otherwise than it was sent. */
function storedNow(brand: Brand, sent: Form): StoredNow[] {
  const now: StoredNow[] = saidOf(brand)
    .filter(({ name, value }) => (sent.get(name) ?? '').trim() !== value)
    .map(({ label, value }) => ({ label, value }))
  if (sent.all('languages').join() !== brand.languages.join()) {
    now.push({ label: 'Languages', value: languagesOf(brand) })
  }
  if ((sent.get('archiveListed') !== undefined) !== brand.archiveListed) {
    const value = brand.archiveListed ? 'may list past campaigns' : 'may not list past campaigns'
    now.push({ label: 'Search engines', value })
  }
  return now
}

export function brandPages(pages: AccountPages, deps: BrandPageDeps): void {
  const show = (visit: Visit, faults: Faults) => showBrand(deps, visit, faults)
  pages.get('/brand', 'settings.read', (visit) => show(visit, noFaults))
  pages.get('/brand/confirmation', 'settings.read', async ({ account, query }) =>
    sampleFrame(await sampleConfirmation(deps.store.read, account.id), query),
  )
  pages.get('/brand/form', 'settings.read', async ({ account, query }) =>
    sampleFrame(found(await deps.sampleForm(account.id)), query),
  )
  pages.get('/brand/footer', 'settings.read', async ({ account, query }) =>
    sampleFrame(found(await sampleFooter(deps.store.read, account.id)), query),
  )
  const changing = { action: 'settings.write', form: BrandForm, again: show } as const
  pages.post('/brand', changing, async ({ account, base, form, fields }) => {
    refuseStale(fields, markOfBrand(await brandOf(deps.store.read, account.id)))
    const { background, text, button, buttonText, ...rest } = form
    const colours = { background, text, button, buttonText }
    const archiveListed = Boolean(form.archiveListed)
    const given = { ...rest, colours, archiveListed }
    checkAll([() => checked(operations.updateBrand, given), () => checkBrand(given)])
    await changeBrand(deps, account.id, checked(operations.updateBrand, given))
    return redirect(`${base}/brand`, {
      flash: 'Saved',
      audit: auditOf(operations.updateBrand, { target: account.id }),
    })
  })
}

/** The domain of the default sender, unless mail may come from it. */
async function unverifiedOf(
  read: Read,
  accountId: string,
  { defaultFrom }: Brand,
): Promise<string | undefined> {
  const domain = parseMailbox(defaultFrom)?.domain
  if (domain === undefined) return undefined
  return (await verifiedDomains(read, accountId)).includes(domain) ? undefined : domain
}

/** Throws a 404. */
function found(html: string | undefined): string {
  if (html === undefined) throw new ApiError('not_found', 'There is no such account')
  return html
}

async function showBrand(
  { store: { read }, publicUrl }: BrandPageDeps,
  visit: Visit,
  faults: Faults,
): Promise<PageAnswer> {
  const { account, base } = visit
  const brand = await brandOf(read, account.id)
  const { background, text, button, buttonText } = brand.colours
  const shown = (one: string, other: string) => shownContrast(contrastOf(one, other))
  const view: BrandView = {
    base,
    mayWrite: visit.may('settings.write'),
    brand,
    unverified: await unverifiedOf(read, account.id, brand),
    contrasts: `Text on its background ${shown(text, background)}, words on the button ${shown(buttonText, button)}; each needs 4.5.`,
    languages: Object.entries(accountLanguages).map(([value, label]) => ({ value, label })),
    colours: saidOf(brand).slice(0, Object.keys(brand.colours).length),
    archive: brand.archivePath === null ? undefined : `${publicUrl}${brand.archivePath}`,
    frames: [
      { title: 'The preference page', src: `${base}/topics/-/centre` },
      { title: 'The form', src: `${base}/brand/form` },
      { title: 'The mail that asks for a confirmation', src: `${base}/brand/confirmation` },
      { title: 'The footer of campaigns', src: `${base}/brand/footer` },
    ],
    mark: await markPart(read, visit, {
      target: account.id,
      mark: markOfBrand(brand),
      page: `${base}/brand`,
      now: () => storedNow(brand, visit.fields),
    }),
    faults,
  }
  return page('brand/brand', view, { title: 'Brand' })
}
