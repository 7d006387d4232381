// Thorough: a browser loads every kind of page and counts bytes.
import { gzipSync } from 'node:zlib'
import type { Response } from 'playwright-core'
import t from 'tap'
import { logIn } from '../support/log-in.js'
import { startPosthorn } from '../support/posthorn.js'
import { missing } from '../support/tools.js'
import { buildScripts, launch } from './open.js'

/*
 * What a page costs who opens it for the first time: `notes/dashboard.md` §5. Bytes as they go over the wire.
 */
const most = { requests: 3, document: 60_000, stylesheet: 30_000, script: 25_000 }

t.test(
  'a page that nobody has opened before costs little',
  { skip: missing('chromium') },
  async (t) => {
    buildScripts()
    const posthorn = await startPosthorn(t)
    const { id } = (
      await posthorn.send({ from: 'a@sender.test', to: 'b@c.test', subject: 'x', html: '<p>x</p>' })
    ).json
    const browser = await launch(t)
    const account = `/a/${posthorn.accountId}`
    const own = ['', '/emails', `/emails/${id}`, '/domains', '/keys', '/webhooks', '/team', '/plan']
    const paths = ['/', '/login', '/reference', ...own.map((path) => account + path), '/me']
    const { cookie } = await logIn(posthorn, posthorn.accountId, 'owner')
    const [name = '', value = ''] = cookie.split('=', 2)
    for (const path of paths) {
      const context = await browser.newContext()
      if (!['/', '/login'].includes(path)) {
        await context.addCookies([{ name, value, url: posthorn.url }])
      }
      const page = await context.newPage()
      const answers: Response[] = []
      page.on('response', (answer) => answers.push(answer))
      await page.goto(posthorn.url + path, { waitUntil: 'load' })
      // The stream that tells of news stays open: nobody waits for it, and it has no end to weigh.
      const asked = answers.filter((answer) => new URL(answer.url()).pathname !== '/live')
      const weighed = await Promise.all(
        asked.map(async (answer) => ({
          kind: answer.request().resourceType(),
          bytes: gzipSync(await answer.body(), { level: 6 }).length,
          path: new URL(answer.url()).pathname,
        })),
      )
      const of = (kind: string) =>
        weighed.filter((one) => one.kind === kind).reduce((sum, { bytes }) => sum + bytes, 0)
      const shown = JSON.stringify(weighed)
      t.ok(weighed.length > 1 && weighed.length <= most.requests, `${path}: ${shown}`)
      for (const kind of ['document', 'stylesheet', 'script'] as const) {
        t.ok(of(kind) <= most[kind], `${path}: ${kind} of ${of(kind)} bytes`)
      }
      t.ok(of('stylesheet') > 1_000 && of('document') > 500, 'they were weighed')
      await context.close()
    }
  },
)
