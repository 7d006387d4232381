import { timesIn } from '../format.js'
import { type Html, html } from '../shell/html.js'
import { isolated } from '../shell/names.js'
import { chip } from '../shell/parts.js'
import type { CampaignCheck } from './check.js'

const words = { good: 'Good', bad: 'In the way', none: 'To know', doubt: 'Look at it' } as const

/** What was looked at before something leaves, each with where it is mended; moments in the reader's zone. */
export const checkList = (checks: readonly CampaignCheck[], zone = 'UTC'): Html =>
  html`<ul class="plain">${checks.map(
    ({ tone, says, mend }) =>
      html`<li>${chip(words[tone], tone)} ${isolated(timesIn(says, zone))}${mend && html` <a href="${mend.href}">${mend.label}</a>`}</li>`,
  )}</ul>`
