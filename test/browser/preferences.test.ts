// Thorough: a browser at every width, in both schemes.
// From a received mail to the preference centre, and to who gets the next one.
import { deflateSync } from 'node:zlib'
import type { Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { readLogo, setLogo } from '../../src/accounts/index.js'
import { findPlan, loadPlans, setMarketingPlan } from '../../src/billing/index.js'
import { countAudience, ofList } from '../../src/broadcasts/index.js'
import { packageFile } from '../../src/config/index.js'
import { findMessage, listMessages } from '../../src/sandbox/index.js'
import { startPosthorn } from '../support/posthorn.js'
import { missing } from '../support/tools.js'
import { launch, open, picture, sideways } from './open.js'

const offer = {
  from: 'Shop <news@sender.test>',
  subject: 'Offers of the week',
  html: '<body><h1>Offers</h1><p>Everything must go.</p></body>',
  type: 'marketing',
}

/** A running appliance whose account has topics, a logo and a list. */
async function start(t: Test) {
  const posthorn = await startPosthorn(t)
  const plan = findPlan(loadPlans(packageFile('config/plans.toml')).marketing, 'Marketing Pro')
  await posthorn.store.write(async (tx) => {
    await setMarketingPlan(tx, posthorn.accountId, plan ?? null)
    await setLogo(tx, posthorn.accountId, readLogo(logo()))
  })
  const make = async (path: string, body: object): Promise<string> => {
    const { status, json } = await posthorn.call('POST', path, { body })
    t.equal(status, 201, path)
    return json.id
  }
  const offers = await make('/v1/topics', {
    name: 'Offers',
    description: 'What is cheaper this week; every Monday',
  })
  await make('/v1/topics', {
    name: 'Reading circle and other evenings in our house at the market',
    description: `Invitations, ${'very '.repeat(20)}seldom, to Donaudampfschifffahrtsgesellschaftskapitänsabende`,
    position: 1,
  })
  const tips = await make('/v1/topics', { name: 'Tips', position: 2 })
  const list = await make('/v1/contacts/lists', { name: 'Readers' })
  return {
    ...posthorn,
    offers,
    tips,
    addContact: (email: string) => make(`/v1/contacts/${list}`, { email }),
    unsubscribed: async (email: string): Promise<boolean> =>
      (await posthorn.call('GET', `/v1/contacts/${list}?email=${email}`)).json.contacts[0]
        .unsubscribed,
    /** How many a campaign to the list would reach. */
    audience: async (topicId: string) => {
      const whole = { accountId: posthorn.accountId, whom: ofList(list), topicId }
      return (await countAudience(posthorn.store.read, whole)).reachable
    },
    leavers: async (topicId: string): Promise<string[]> =>
      (await posthorn.call('GET', `/v1/topics/${topicId}/opt-outs`)).json.optOuts.map(
        ({ email }: { email: string }) => email,
      ),
    /** Sends on a topic and resolves with what became of it. */
    async send(to: string, topicId: string): Promise<string> {
      const { json } = await posthorn.send({ ...offer, to, topicId })
      const settled = ['delivered', 'suppressed']
      return (await posthorn.until(json.id, ({ status }) => settled.includes(status))).status
    },
    /** The link to the centre in the newest mail to an address, from both of its parts. */
    async linkFor(to: string): Promise<{ inHtml: string; inText: string }> {
      const [newest] = await listMessages(posthorn.store, { limit: 1, search: to })
      const content = await findMessage(posthorn.store, newest?.id ?? 0)
      const { html = '', text = '' } = content?.content ?? {}
      const [, inHtml = ''] = /<a href="([^"]+)"[^>]*>Choose what you get<\/a>/.exec(html) ?? []
      const [, inText = ''] = /^Choose what you get: (\S+)$/m.exec(text) ?? []
      const here = (url: string) => posthorn.publicUrl + new URL(url).pathname
      return { inHtml: here(inHtml), inText: here(inText) }
    },
  }
}

t.test('the preference centre in a browser', { skip: missing('chromium') }, async (t) => {
  const posthorn = await start(t)
  const browser = await launch(t)
  const visit = async (t: Test, width: number, scheme: 'light' | 'dark') => {
    const opened = await open(t, browser, width, scheme)
    // Browsers ask for it by themselves.
    await opened.page.route('**/favicon.ico', (route) => route.fulfill({ status: 204 }))
    return opened
  }

  await t.test('from a received mail to the centre, and to who gets the next one', async (t) => {
    const to = 'ada@reader.test'
    await posthorn.addContact(to)
    t.equal(await posthorn.send(to, posthorn.offers), 'delivered')
    const { inHtml, inText } = await posthorn.linkFor(to)
    t.equal(inHtml, inText, 'both parts have the same link')

    // By keyboard alone.
    const { page, errors } = await visit(t, 375, 'light')
    await page.goto(inText)
    await page.keyboard.press('Tab')
    t.equal(await focused(page), 'Offers')
    await picture(page, 'centre-focus-375-light')
    await page.keyboard.press('Space')
    for (let stops = 0; stops < 3; stops++) await page.keyboard.press('Tab')
    t.equal(await focused(page), 'Save my choice')
    await page.keyboard.press('Enter')
    await page.getByRole('status').waitFor()
    t.equal(await focused(page), 'Your choice is saved.', 'what came of it is read out')
    await picture(page, 'centre-saved-375-light')
    t.notOk(await page.getByRole('checkbox', { name: 'Offers' }).isChecked())
    t.same(await posthorn.leavers(posthorn.offers), [to])
    t.equal(await posthorn.send(to, posthorn.offers), 'suppressed', 'left out of the next send')
    t.equal(await posthorn.audience(posthorn.offers), 0, 'and of the next campaign')
    t.equal(await posthorn.send(to, posthorn.tips), 'delivered', 'but not of another topic')

    await page.getByRole('button', { name: 'Unsubscribe from everything' }).press('Enter')
    await page.getByRole('button', { name: 'Subscribe again' }).waitFor()
    await picture(page, 'centre-left-375-light')
    t.ok(await posthorn.unsubscribed(to))
    t.equal(await posthorn.send(to, posthorn.tips), 'suppressed')

    await page.getByRole('checkbox', { name: 'Offers' }).press('Space')
    // Enter in a box saves, as in any form.
    await page.getByRole('checkbox', { name: 'Offers' }).press('Enter')
    await page.getByText('Your choice is saved.').waitFor()
    t.notOk(await posthorn.unsubscribed(to))
    t.equal(await posthorn.send(to, posthorn.offers), 'delivered', 'back in the next send')
    t.equal(await posthorn.audience(posthorn.offers), 1, 'and in the next campaign')
    t.equal(await posthorn.send(to, posthorn.tips), 'suppressed', 'what was not ticked stays left')
    t.same(errors, [])
  })

  await t.test('it fits and can be read at any width, light and dark', async (t) => {
    const to = `${'long.'.repeat(12)}name@${'sub-domain.'.repeat(15)}reader.test`
    await posthorn.send(to, posthorn.offers)
    const { inHtml } = await posthorn.linkFor(to)
    const leave = inHtml.replace(/.*(?=\/preferences)/, posthorn.publicUrl)
    for (const [width, scheme] of [
      [1280, 'light'],
      [1280, 'dark'],
      [375, 'dark'],
      // WCAG 2.2 §1.4.10: also what 1280 pixels at 400 %, or 640 at 200 %, come to.
      [320, 'light'],
    ] as const) {
      const { page, errors } = await visit(t, width, scheme)
      const look = async (name: string) => {
        const where = `${name}-${width}-${scheme}`
        t.equal(await sideways(page), 0, `${where} does not scroll sideways`)
        t.ok((await lowestContrast(page)) >= 4.5, `${where} has contrast`)
        await picture(page, where)
      }
      await page.goto(leave)
      await look('centre')
      t.ok(
        await page.evaluate<number>('document.querySelector(".logo").naturalWidth'),
        'the logo is there',
      )
      const row = await page.locator('label.topic').first().boundingBox()
      t.ok((row?.height ?? 0) >= 44, 'a thumb hits a topic')
      await page.getByText('What is cheaper').click()
      t.notOk(await page.getByRole('checkbox', { name: 'Offers' }).isChecked())
      await page.getByText('What is cheaper').click()
      await page.getByRole('button', { name: 'Save my choice' }).click()
      await page.getByRole('status').waitFor()
      await page.waitForLoadState()
      await look('centre-saved')
      await page.goto(`${leave}x`)
      await look('unknown')
      t.same(
        errors.filter((error) => !error.includes('404')),
        [],
      )
    }
  })
})

const focused = (page: Page) =>
  page.evaluate<string>(`(() => {
    const element = document.activeElement
    const name = document.getElementById(element.getAttribute('aria-labelledby'))
    return (name ?? element).textContent.trim()
  })()`)

/** The lowest ratio (WCAG 2.2 §1.4.3) of any text on the page to what is behind it. */
const lowestContrast = (page: Page) =>
  page.evaluate<number>(`(() => {
    const channels = (color) => color.match(/[\\d.]+/g).map(Number)
    const light = (color) => {
      const [r, g, b] = channels(color).map((v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
      return 0.2126 * r + 0.7152 * g + 0.0722 * b
    }
    const behind = (element) => {
      const color = getComputedStyle(element).backgroundColor
      return channels(color)[3] === 0 ? behind(element.parentElement) : color
    }
    return Math.min(...[...document.querySelectorAll('h1, h2, p, legend, button, a, .topic span')].map((element) => {
      const [a, b] = [light(getComputedStyle(element).color), light(behind(element))]
      return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)
    }))
  })()`)

/** A picture that a browser shows: 240 × 60 pixels of one green. */
function logo(): Buffer {
  const chunk = (type: string, data: Buffer) => {
    const body = Buffer.concat([Buffer.from(type), data])
    const size = Buffer.alloc(4)
    size.writeUInt32BE(data.length)
    const sum = Buffer.alloc(4)
    sum.writeUInt32BE(crc32(body))
    return Buffer.concat([size, body, sum])
  }
  const header = Buffer.from('000000f00000003c0802000000', 'hex')
  const row = Buffer.concat([Buffer.of(0), Buffer.alloc(240 * 3, Buffer.of(0x1d, 0x7a, 0x46))])
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(Buffer.concat(Array.from({ length: 60 }, () => row)))),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

function crc32(bytes: Buffer): number {
  let crc = 0xffffffff
  for (const byte of bytes) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0)
  }
  return ~crc >>> 0
}
