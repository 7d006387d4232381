import { logoOf, maxLogoBytes } from '../../accounts/index.js'
import { accountSwitches } from '../../tracking/index.js'
import { fileSize } from '../format.js'
import { type Answer, page } from '../shell/answer.js'
import { type Faults, noFaults } from '../shell/faults.js'
import type { Visit } from '../shell/visit.js'
import type { SettingsDeps } from './routes.js'

export const choices = ['default', 'on', 'off'] as const

interface SettingsView {
  base: string
  id: string
  name: string
  mayWrite: boolean
  faults: Faults
  logo: { src: string; text: string } | undefined
  mostLogo: string
  tracking: { name: 'opens' | 'clicks'; label: string; hint: string; value: string }[]
  options: Record<'opens' | 'clicks', { value: string; label: string }[]>
}

/** What an account may set itself. */
export async function showSettings(
  { store, tracking }: SettingsDeps,
  { account, base, may }: Visit,
  faults = noFaults,
): Promise<Answer> {
  const logo = await logoOf(store.read, account.id)
  const own = await accountSwitches(store.read, account.id)
  const chosen = (flag: boolean | null) => (flag === null ? 'default' : flag ? 'on' : 'off')
  const optionsOf = (usual: boolean) => [
    { value: 'default', label: `As this appliance has it (${usual ? 'on' : 'off'})` },
    { value: 'on', label: 'On' },
    { value: 'off', label: 'Off' },
  ]
  const view: SettingsView = {
    ...{ base, id: account.id, name: account.name, mayWrite: may('settings.write'), faults },
    logo: logo && {
      // With its size, so that another picture is another address for the browser's memory.
      src: `${base}/settings/logo?${logo.bytes.length}`,
      text: `${logo.contentType.replace('image/', '').toUpperCase()}, ${fileSize(logo.bytes.length)}`,
    },
    mostLogo: fileSize(maxLogoBytes),
    tracking: [
      {
        ...{ name: 'opens', label: 'Opens', value: chosen(own.opens) },
        hint: 'A picture of one pixel tells when a mail is looked at.',
      },
      {
        ...{ name: 'clicks', label: 'Clicks', value: chosen(own.clicks) },
        hint: 'Links lead over this appliance, which counts them.',
      },
    ],
    options: { opens: optionsOf(tracking.opens), clicks: optionsOf(tracking.clicks) },
  }
  return page('settings/settings', view, { title: 'Settings' })
}
