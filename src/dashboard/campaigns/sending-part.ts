import { type Html, html } from '../shell/html.js'
import { bar, facts } from '../shell/parts.js'
import { table } from '../shell/table.js'
import type { SendingView } from './report-progress.js'

/** How far a campaign is that sends, as its own page and its report show it. */
export const sendingPart = ({
  done,
  toMake,
  text,
  facts: rows,
  providers,
  why,
}: SendingView): Html =>
  html`<section class="card" aria-labelledby="sending">
  <h2 id="sending">Being sent</h2>
  ${bar({ label: 'Done', used: done, limit: toMake, text, isWork: true })}
  ${facts(rows)}
  ${
    providers.length > 0 &&
    table({
      caption: 'By provider',
      columns: [
        { label: 'Provider', kind: 'main' },
        ...['Arrived', 'Put off', 'Bounced'].map((label) => ({ label, kind: 'number' as const })),
      ],
      rows: providers.map(({ name, cells }) => [name, ...cells]),
    })
  }
  ${
    why.length > 0 &&
    html`<h3>Why it is slow</h3>
  <ul>${why.map(
    ({ title, says, count, href }) =>
      html`<li class="wrap"><strong>${title}</strong> ${shortOf(says)} ${
        count !== '' && html`<span class="quiet">${count}.</span> `
      }${href !== '' && html`<a href="${href}">More about it</a>`}</li>`,
  )}</ul>`
  }
</section>`

// A server's reply may have 2,000 characters; the whole of it is a link away.
const mostSaid = 240
const shortOf = (says: string) => (says.length > mostSaid ? `${says.slice(0, mostSaid)}…` : says)
