import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { fakeResolver } from '../support/resolver.js'
import { mail, startDashboard } from './start.js'

const gif = 'R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7'

t.test('each view of a message stands at an address of its own', async (t) => {
  const { receive, get } = await startDashboard(t)
  const id = await receive(mail({ subject: 'Views', text: 'Only <text>' }))
  const view = async (name: string) => (await get(`/sandbox/${id}?view=${name}`)).text
  t.match(await view('text'), 'Only &lt;text&gt;')
  t.match(await view('headers'), /<dt>Subject<\/dt>/)
  t.match(await view('headers'), /SMTP, not encrypted/)
  t.match(await view('source'), 'boundary=b')
  t.match(await view('attachments'), /No attachments/)
  t.match(await view('checks'), 'The mail is not signed.')
  t.match(await view('clients'), 'mail clients show all')
  t.match(await view('links'), 'No links')
  t.match(await view('nonsense'), 'iframe', 'what is not there is the first')
  t.match(await view('text'), /<a href="\/sandbox\/\d+\?view=text" aria-current="page">Text<\/a>/)
})

t.test('a mail with text alone begins with its text', async (t) => {
  const { receive, get } = await startDashboard(t)
  const id = await receive('Subject: Bare\r\n\r\nNothing but words\r\n')
  const { text } = await get(`/sandbox/${id}`)
  t.match(text, 'Nothing but words')
  t.notMatch(text, '<iframe')
  t.notMatch(text, '>HTML<')
})

t.test(
  'pictures that a mail carries are shown, those from elsewhere only when asked for',
  async (t) => {
    const { receive, get } = await startDashboard(t)
    const html = `<img src="cid:logo@x"><img src="cid:gone"><p>cid:logo@x</p><img src="https://pictures.test/a.png"><div style="background:url(cid:logo@x)">`
    const id = await receive(
      [
        'From: a@b.test',
        'Subject: Pictures',
        'Content-Type: multipart/related; boundary=r',
        '',
        `--r\r\nContent-Type: text/html\r\n\r\n${html}`,
        `--r\r\nContent-Type: image/gif\r\nContent-ID: <logo@x>\r\nContent-Transfer-Encoding: base64\r\n\r\n${gif}`,
        '--r--\r\n',
      ].join('\r\n'),
    )
    const frame = await get(`/sandbox/${id}/html`)
    t.equal(frame.text.split(`data:image/gif;base64,${gif}`).length, 3, 'in src and in CSS')
    t.match(frame.text, 'src="cid:gone"')
    t.match(frame.text, '<p>cid:logo@x</p>', 'words stay words')
    t.match(frame.headers.get('content-security-policy'), /; img-src data:;/)
    const page = await get(`/sandbox/${id}`)
    t.match(page.text, `href="/sandbox/${id}?pictures=all">Show them`)

    const asked = await get(`/sandbox/${id}?pictures=all`)
    t.match(asked.text, `src="/sandbox/${id}/html?pictures=all"`)
    const open = await get(`/sandbox/${id}/html?pictures=all`)
    const policy = open.headers.get('content-security-policy') ?? ''
    t.match(policy, /; img-src data: https: http:;/)
    t.match(policy, /^default-src 'none'/)
    t.notMatch(policy, /script|allow-same-origin|allow-forms|frame-src|connect-src/)
  },
)

t.test('the checks name what filters and clients hold against a mail', async (t) => {
  const { receive, get } = await startDashboard(t)
  const sentences = async (raw: string) => {
    const { findings } = JSON.parse((await get(`/sandbox/${await receive(raw)}/checks.json`)).text)
    return findings
      .filter(({ tone }: { tone: string }) => tone !== 'good')
      .map(({ sentence }: { sentence: string }) => sentence)
      .join('\n')
  }
  const headers =
    'From: a@b.test\r\nDate: Sun, 22 Nov 2026 10:00:00 +0000\r\nMessage-ID: <1@b.test>\r\n'
  t.match(await sentences(`${headers}Content-Type: text/html\r\n\r\n<p>Hi</p>\r\n`), 'no text part')
  t.match(await sentences(`${headers}\r\nHi\r\n`), 'There is no subject')
  t.match(await sentences('Subject: x\r\n\r\nHi\r\n'), 'There is no From header')
  t.match(await sentences('Subject: x\r\n\r\nHi\r\n'), 'There is no Message-ID header')
  t.match(await sentences(mail({ subject: 'BUY THIS NOW' })), 'in capitals')
  t.match(await sentences(mail({ subject: 'Now!!!' })), 'exclamation')
  t.match(await sentences(mail({ subject: 'Dear {{ name }}' })), 'A variable in the subject')
  t.match(
    await sentences(mail({ html: `<p>${'long '.repeat(22_000)}</p>` })),
    'Gmail clips a mail at 102 kB and',
  )
  t.match(
    await sentences(mail({ html: '<img src="https://a.test/b.png" alt="">' })),
    'nearly all pictures',
  )
  t.match(await sentences(mail({ html: '<form>x</form>' })), 'a script, form or frame')
  t.match(await sentences(mail({ more: 'Subject: Twice' })), 'There are 2 headers Subject')

  const unsubscribe = (more: string) => sentences(mail({ more }))
  t.match(await sentences(mail({})), 'no List-Unsubscribe header')
  t.match(await unsubscribe('List-Unsubscribe: https://a.test'), 'no address in angle brackets')
  t.match(await unsubscribe('List-Unsubscribe: <mailto:a@b.test>'), 'no https address')
  t.match(await unsubscribe('List-Unsubscribe: <https://a.test/u>'), 'List-Unsubscribe=One-Click')
  const whole =
    'List-Unsubscribe: <https://a.test/u>\r\nList-Unsubscribe-Post: List-Unsubscribe=One-Click'
  t.match(await unsubscribe(whole), 'No DKIM signature covers')
  const signature =
    'DKIM-Signature: v=1; a=rsa-sha256; d=b.test; s=x; h=From:List-Unsubscribe:\r\n List-Unsubscribe-Post; bh=x; b=y'
  t.notMatch(await unsubscribe(`${whole}\r\n${signature}`), 'RFC 8058')
})

t.test('the HTML check names the clients that lack what a mail uses', async (t) => {
  const { receive, get } = await startDashboard(t)
  const html = `<style>/* a{color:red} */ @media (prefers-color-scheme: dark) { p { color: red } }
    a:hover > b { border-radius: 4px } @import "x;y";</style>
    <p style="display:flex; background: url('a;b.png'); --x: 1px; width: calc(1px + 2px)">x</p>
    <video></video><img src="a.webp?x=1"><input type=radio>`
  const id = await receive(mail({ html }))
  const { clients } = JSON.parse((await get(`/sandbox/${id}/checks.json`)).text)
  const found = new Map<string, { uses: number; missing: string[] }>(
    clients.features.map((one: { title: string }) => [one.title, one]),
  )
  const lacks = (title: string, client: string) => {
    t.ok(
      found.get(title)?.missing.includes(client),
      `${client} lacks ${title}: ${[...found.keys()]}`,
    )
  }
  lacks('display:flex', 'Outlook (Windows)')
  lacks('border-radius', 'Outlook (Windows)')
  lacks('@media (prefers-color-scheme)', 'Gmail (web)')
  lacks('@import', 'Gmail (web)')
  lacks('<video> element', 'Gmail (web)')
  lacks('webP image format', 'Outlook (Windows)')
  lacks('CSS calc() function', 'Outlook (Windows)')
  t.equal(found.get('display:flex')?.uses, 1)
  t.match((await get(`/sandbox/${id}?view=clients`)).text, 'caniemail.com, 20')
  const plain = await receive(mail({ html: '<p>Hello</p>' }))
  t.match((await get(`/sandbox/${plain}?view=clients`)).text, '18 of 18 mail clients show all')
})

t.test('a style sheet that is hostile takes no time', async (t) => {
  const { receive, get } = await startDashboard(t)
  for (const css of [
    '/*'.repeat(90_000),
    '"'.repeat(90_001),
    '(('.repeat(90_000),
    'a:'.repeat(90_000),
  ]) {
    const id = await receive(mail({ html: `<style>${css}</style>` }))
    const began = process.cpuUsage()
    t.equal((await get(`/sandbox/${id}?view=clients`)).status, 200)
    t.ok(process.cpuUsage(began).user < 2_000_000, 'microseconds of a processor')
  }
})

t.test('the link check says what is wrong without asking for anything', async (t) => {
  const { receive, get } = await startDashboard(t)
  const html = `<a href="https://good.test.posthorn.dev/">Good</a><a href="#">Later</a><a href="">None</a>
    <a href="/relative">Rel</a><a href="http://plain.posthorn.dev/">Plain</a><a href="javascript:alert(1)">Run</a>
    <a href="https://{{ host }}/">Var</a><a href="https://evil.dev/">www.bank.dev</a><a href="https://bit.ly/x">Short</a>
    <a href="https://example.com/">Ex</a><a href="https://10.0.0.1/">Ip</a><a href="mailto:">Mail</a><a href="https://intranet/">In</a>
    <img src="https://pictures.posthorn.dev/a.png"><a href="https://www.bank.dev/in">bank.dev</a>`
  const id = await receive(mail({ html, text: 'See https://text.posthorn.dev/a. Bye' }))
  const { links } = JSON.parse((await get(`/sandbox/${id}/checks.json`)).text)
  const faults = (url: string) =>
    links.find((one: { url: string }) => one.url === url)?.faults.join(' ') as string
  t.equal(faults('https://good.test.posthorn.dev/'), '')
  t.equal(faults('https://text.posthorn.dev/a'), '')
  t.match(faults('#'), 'placeholder')
  t.match(faults(''), 'no address')
  t.match(faults('/relative'), 'relative')
  t.match(faults('http://plain.posthorn.dev/'), 'not encrypted')
  t.match(faults('javascript:alert(1)'), 'attack')
  t.match(faults('https://{{ host }}/'), 'variable')
  t.match(faults('https://evil.dev/'), 'reads as bank.dev and leads to evil.dev')
  t.equal(faults('https://www.bank.dev/in'), '')
  t.match(faults('https://bit.ly/x'), 'shorteners')
  t.match(faults('https://example.com/'), 'name for examples')
  t.match(faults('https://10.0.0.1/'), 'IP address')
  t.match(faults('mailto:'), 'not name a mail address')
  t.match(faults('https://intranet/'), 'your own network')
  t.match(faults('https://pictures.posthorn.dev/a.png'), 'no alt text')
  const page = (await get(`/sandbox/${id}?view=links`)).text
  t.notMatch(page, 'href="javascript:')
  t.match(page, '<code>javascript:alert(1)</code>')
})

t.test('links are followed when asked for, and never into the own network', async (t) => {
  const asked: string[] = []
  const site = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`)
    if (request.url === '/moved') response.writeHead(302, { location: '/there' })
    else if (request.url === '/no-head' && request.method === 'HEAD') response.writeHead(405)
    else response.writeHead(request.url === '/gone' ? 404 : 200)
    response.end()
  })
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve))
  t.teardown(() => site.close())
  const { port } = site.address() as AddressInfo
  const resolver = fakeResolver({
    'site.test': { a: ['127.0.0.1'] },
    'inside.test': { a: ['10.1.2.3'] },
  })
  const { receive, get, url } = await startDashboard(t, { resolver, allow: ['site.test'] })
  const to = (path: string) => `http://site.test:${port}${path}`
  const addresses = [
    to('/there'),
    to('/moved'),
    to('/gone'),
    to('/no-head'),
    'https://inside.test/',
    'https://127.0.0.1/',
    'mailto:a@b.test',
  ]
  const id = await receive(
    mail({ html: addresses.map((one) => `<a href="${one}">x</a>`).join('') }),
  )
  await get(`/sandbox/${id}?view=links`)
  await get(`/sandbox/${id}/checks.json`)
  t.same(asked, [], 'looking asks for nothing')

  const post = (headers: Record<string, string>, path = 'links.json') =>
    fetch(`${url}/sandbox/${id}/${path}`, { method: 'POST', headers })
  t.equal((await post({ 'sec-fetch-site': 'cross-site' }, 'links')).status, 403)
  t.equal((await get(`/sandbox/${id}/links`)).status, 405)
  t.same(asked, [])

  const { links } = (await (await post({})).json()) as {
    links: { url: string; sentence: string }[]
  }
  const said = Object.fromEntries(links.map((one) => [one.url, one]))
  t.match(said[to('/there')], { good: true, sentence: 'Answered 200.' })
  t.match(said[to('/moved')], { good: true, sentence: 'Answered 200, after 1 redirect' })
  t.match(said[to('/gone')], { good: false, sentence: 'Answered 404.' })
  t.match(said[to('/no-head')], { good: true })
  t.match(said['https://inside.test/'], { good: false, sentence: 'not at a public address' })
  t.match(said['https://127.0.0.1/'], { good: false, sentence: 'not at a public address' })
  t.notOk(said['mailto:a@b.test'])
  t.ok(asked.includes('HEAD /there') && asked.includes('GET /no-head'))
  const page = await (await post({ 'sec-fetch-site': 'same-origin' }, 'links')).text()
  t.match(page, 'Answered 404.')
  t.match(page, 'does not work')
})
