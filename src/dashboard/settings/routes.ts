import { enums, string, type } from 'superstruct'
import {
  accountFace,
  accountLanguages,
  languageOf,
  logoOf,
  maxLogoBytes,
  readLogo,
  removeLogo,
  renameAccount,
  setLanguage,
  setLogo,
} from '../../accounts/index.js'
import { choiceOf, flagOf, switchChoices } from '../../domains/index.js'
import { ApiError } from '../../errors/index.js'
import type { Store } from '../../store/index.js'
import { accountSwitches, setSwitches } from '../../tracking/index.js'
import { fileSize } from '../format.js'
import { file, type PageAnswer, page, redirect } from '../shell/answer.js'
import { type Faults, noFaults } from '../shell/faults.js'
import type { AccountPages } from '../shell/page.js'
import type { Visit } from '../shell/visit.js'

/** What the page of an account's settings needs. */
export interface SettingsDeps {
  store: Store
  /** What counts where an account has not chosen. */
  tracking: { opens: boolean; clicks: boolean }
}

const Choice = enums(switchChoices)

/** An account's name, its logo, the language of what recipients read, and whether its mail is tracked. */
export function settingsPages(pages: AccountPages, deps: SettingsDeps): void {
  const { store } = deps
  const again = (visit: Visit, faults: Faults) => showSettings(deps, visit, faults)
  // Every change leads back to the page. The audit log gets the account's id, with which `base` ends.
  const back = (
    base: string,
    flash: string,
    action: string,
    detail: Record<string, unknown> = {},
  ) => redirect(`${base}/settings`, { flash, audit: { action, target: base.slice(3), detail } })

  pages.get('/settings', 'settings.read', (visit) => showSettings(deps, visit))
  pages.post(
    '/settings/name',
    { action: 'settings.write', form: type({ name: string() }), again },
    async ({ account, base, form }) => {
      const { name } = await renameAccount(deps, account.id, form.name)
      return back(base, `The account is called ${name}`, 'account.rename', {
        before: account.name,
        name,
      })
    },
  )
  pages.get('/settings/logo', 'settings.read', async ({ account }) => {
    const logo = await logoOf(store.read, account.id)
    if (logo === undefined) throw new ApiError('not_found', 'The account has no logo')
    return file(logo.bytes, logo.contentType)
  })
  pages.post(
    '/settings/logo',
    // There is more room than a logo may have, so that the domain's own message answers a file that is a little too
    // large.
    { action: 'settings.write', again, maxBodyBytes: 4 * maxLogoBytes },
    async ({ account, base, fields }) => {
      const given = fields.file('logo')
      if (given === undefined || given.bytes.length === 0) {
        const message = 'logo: choose a PNG, JPEG or WebP picture'
        throw new ApiError('validation_error', message, { status: 422, fields: { field: 'logo' } })
      }
      // The kind is read from the bytes and not from name or type, which the browser only guesses: an SVG could carry
      // a script.
      const logo = readLogo(given.bytes)
      await store.write((tx) => setLogo(tx, account.id, logo))
      return back(base, 'The logo is set', 'account.logo', { sizeBytes: logo.bytes.length })
    },
  )
  pages.post('/settings/logo/remove', { action: 'settings.write' }, async ({ account, base }) => {
    await store.write((tx) => removeLogo(tx, account.id))
    return back(base, 'The logo is removed', 'account.logo')
  })
  pages.post(
    '/settings/language',
    { action: 'settings.write', form: type({ language: string() }), again },
    async ({ account, base, form: { language } }) => {
      await setLanguage(deps, account.id, language)
      return back(base, 'The language is set, for mail from now on', 'account.language', {
        language,
      })
    },
  )
  pages.post(
    '/settings/tracking',
    { action: 'settings.write', form: type({ opens: Choice, clicks: Choice }), again },
    async ({ account, base, form }) => {
      const switches = { opens: flagOf(form.opens), clicks: flagOf(form.clicks) }
      await setSwitches(deps, { accountId: account.id }, switches)
      return back(base, 'The tracking is set, for mail from now on', 'account.tracking', form)
    },
  )
}

/** The page's values. */
interface SettingsView {
  base: string
  id: string
  name: string
  mayWrite: boolean
  faults: Faults
  logo: { src: string; text: string } | undefined
  mostLogo: string
  language: string
  languages: { value: string; label: string }[]
  tracking: { name: 'opens' | 'clicks'; label: string; hint: string; value: string }[]
  options: Record<'opens' | 'clicks', { value: string; label: string }[]>
}

/** What an account may set itself. */
async function showSettings(
  { store, tracking }: SettingsDeps,
  { account, base, may }: Visit,
  faults = noFaults,
): Promise<PageAnswer> {
  const logo = await logoOf(store.read, account.id)
  const own = await accountSwitches(store.read, account.id)
  const face = await accountFace(store.read, account.id)
  const optionsOf = (usual: boolean) => [
    { value: 'default', label: `Default (${usual ? 'on' : 'off'})` },
    { value: 'on', label: 'On' },
    { value: 'off', label: 'Off' },
  ]
  const view: SettingsView = {
    base,
    id: account.id,
    name: account.name,
    mayWrite: may('settings.write'),
    faults,
    logo: logo && {
      // The address has the size in it, so that the browser's cache does not show an older picture.
      src: `${base}/settings/logo?${logo.bytes.length}`,
      text: `${logo.contentType.replace('image/', '').toUpperCase()}, ${fileSize(logo.bytes.length)}`,
    },
    mostLogo: fileSize(maxLogoBytes),
    language: languageOf(face?.language ?? null),
    languages: Object.entries(accountLanguages).map(([value, label]) => ({ value, label })),
    tracking: [
      {
        name: 'opens',
        label: 'Opens',
        value: choiceOf(own.opens),
        hint: 'A picture of one pixel tells when a mail is looked at. Transactional mail gets it only with On.',
      },
      {
        name: 'clicks',
        label: 'Clicks',
        value: choiceOf(own.clicks),
        hint: 'Links go through this server, which counts clicks.',
      },
    ],
    options: { opens: optionsOf(tracking.opens), clicks: optionsOf(tracking.clicks) },
  }
  return page('settings/settings', view, { title: 'Settings' })
}
