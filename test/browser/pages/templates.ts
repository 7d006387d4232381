import { setLogo } from '../../../src/accounts/index.js'
import type { PlacePages } from '../every-page.js'

const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)
const long = 'a'.repeat(64)
const lines = Array.from({ length: 60 }, (_, n) => `  <p>Line ${n} for {{ user.name }}</p>`)
const html = `<body style="font-family: sans-serif">\n${lines.join('\n')}\n<p>{{ order.total }}</p></body>`

const word = 'Donaudampfschifffahrtsgesellschaft'.repeat(4)
const blocks = {
  version: 1,
  blocks: [
    { type: 'heading', text: `${word} {{ firstName | default: "you" }}`, align: 'center' },
    { type: 'button', text: word, url: '{{ shop }}' },
    { type: 'columns', columns: [[{ type: 'text', text: word }], [{ type: 'divider' }], []] },
    { type: 'list', items: ['One', '**Two**'], numbered: true },
    { type: 'social', links: [{ name: 'Mastodon', url: 'https://social.test/' }] },
    { type: 'footer', text: 'You signed up.' },
  ],
}

/** Templates, the plan and the settings of an account. */
export const place: PlacePages = {
  fill: async ({ call, store, accountId }) => {
    const subject = `<b>"${'A very long subject '.repeat(8)}"</b> {{ user.name }}`
    await call('POST', '/v1/templates', { body: { slug: long, subject, html } })
    await call('POST', '/v1/templates', {
      body: { slug: 'short', subject: 'Hi', html: '<p>Hi</p>' },
    })
    await call('POST', '/v1/templates', { body: { slug: 'blocks', subject: 'News', blocks } })
    const changed = { html: html.replace('Line 30', 'Changed'), textBody: 'Hello' }
    await call('PATCH', `/v1/templates/${long}`, { body: changed })
    await store.write((tx) => setLogo(tx, accountId, { contentType: 'image/png', bytes: png }))
  },
  pages: ({ full, empty }) => [
    { path: `${full}/templates`, as: 'owner' },
    { path: `${empty}/templates`, as: 'empty', name: 'templates-empty' },
    { path: `${full}/templates/-/new`, as: 'owner', name: 'templates-new' },
    { path: `${full}/templates/${long}`, as: 'owner', name: 'templates-editor' },
    { path: `${full}/templates/blocks`, as: 'member', name: 'templates-blocks' },
    { path: `${full}/templates/-/new?with=blocks`, as: 'member', name: 'templates-new-blocks' },
    { path: `${full}/templates/short`, as: 'viewer', name: 'templates-viewer' },
    { path: `${full}/templates/${long}/versions`, as: 'member', name: 'templates-versions' },
    { path: `${full}/templates/${long}/versions/2`, as: 'member', name: 'templates-version' },
    { path: `${full}/templates/${long}/versions/1`, as: 'member', name: 'templates-restore' },
    { path: `${full}/templates/none`, as: 'member', status: 404, name: 'templates-none' },
    { path: `${full}/plan`, as: 'owner' },
    { path: `${full}/plan`, as: 'operator', name: 'plan-operator' },
    { path: `${full}/settings`, as: 'owner', name: 'settings' },
    { path: `${empty}/settings`, as: 'empty', name: 'settings-empty' },
    { path: `${full}/settings`, as: 'viewer', name: 'settings-viewer' },
  ],
}
