import { type ShownSetting, settings, settingsInForce, shownSetting } from '../../config/index.js'
import { page } from '../shell/answer.js'
import { linkTo } from '../shell/listing.js'
import type { OperatorPages } from '../shell/page.js'
import type { OperatorVisit } from '../shell/visit.js'
import type { OperatorPageDeps } from './deps.js'

/** `/operator/settings`: the settings in force and where they come from; like `posthorn config show`. */
export function settingsPages(pages: OperatorPages, deps: OperatorPageDeps): void {
  // Worked out once: the appliance keeps the settings of its start, and it takes a while to find where each one is
  // written.
  let shown: readonly ShownSetting[] | undefined
  pages.get('/settings', 'operator.read', async (visit) => {
    shown ??= inForce(deps)
    return settingsPage(deps, visit, shown)
  })
}

/** Each setting with where its value comes from: file, environment or default. */
function inForce({ config, configFile: file }: OperatorPageDeps): ShownSetting[] {
  const source = { env: process.env, ...(file === undefined ? {} : { file }) }
  return settingsInForce(settings, config, source).map(shownSetting)
}

/** The settings of one section, or only those that differ from the default. */
function settingsPage(
  { configFile }: OperatorPageDeps,
  { query }: OperatorVisit,
  all: readonly ShownSetting[],
) {
  const section = query.get('section') ?? ''
  const changed = query.get('changed') === 'yes'
  const sectionOf = (name: string) => name.split('.')[0] ?? ''
  const sections = [...new Set(all.map(({ name }) => sectionOf(name)))]
  const fitting = all
    .filter(({ name }) => section === '' || sectionOf(name) === section)
    .filter(({ source }) => !changed || source !== 'default')
  const view = {
    section,
    changed,
    file: configFile,
    sections: [
      {
        label: 'All',
        href: linkTo('/operator/settings', changed ? { changed: 'yes' } : {}),
        here: section === '',
      },
      ...sections.map((one) => ({
        label: one,
        here: one === section,
        href: linkTo('/operator/settings', { section: one, ...(changed && { changed: 'yes' }) }),
      })),
    ],
    other: linkTo('/operator/settings', { section, changed: changed ? '' : 'yes' }),
    rows: fitting.map(({ name, text, from, source }) => ({
      name,
      text,
      from,
      isSet: source !== 'default',
    })),
  }
  return page('operator/settings', view, { title: 'Settings', wide: true })
}
