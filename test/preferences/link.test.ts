import t from 'tap'
import { makeApplianceKey } from '../../src/config/index.js'
import { composeMessage, parseMailbox } from '../../src/mime/index.js'
import {
  type Footer,
  makeFooterPlaces,
  makePreferenceLinks,
  makeUnsubscribeLinks,
  stringsIn,
  unsubscribeHeaders,
  withFooter,
  withOwnLinks,
} from '../../src/preferences/index.js'
import { copyTags } from '../../src/templates/index.js'

/** What a recipient gets. */
function copyOf(content: { html: string; text: string }, footer: Footer, language = 'en') {
  const { html, text } = withOwnLinks(content, footer)
  const placed = makeFooterPlaces()(html, footer)
  return withFooter({ text, ...placed }, footer, stringsIn(language))
}

const key = makeApplianceKey(Buffer.alloc(32, 7))
const links = makeUnsubscribeLinks(key, 'https://mail.example.test')
const accountId = '019a9b10-1111-7000-8000-00000000abcd'
const topicId = '019a9b10-2222-7000-8000-00000000ef01'
const emailId = '019a9b10-3333-7000-8000-00000000ef02'
const tokenOf = (url: string) => url.slice(url.lastIndexOf('/') + 1)

t.test('a token names exactly what it was signed for', async (t) => {
  for (const target of [
    { accountId, address: 'Ada.L@example.test' },
    { accountId, address: 'ada@example.test', topicId },
    { accountId, address: 'дмитрий@example.test', topicId },
    { accountId, address: '"a b"@x.test' },
    { accountId, address: 'ada@example.test', emailId },
    { accountId, address: 'ada@example.test', topicId, emailId },
  ]) {
    const url = links.url(target)
    t.match(url, /^https:\/\/mail\.example\.test\/unsubscribe\/[A-Za-z0-9_-]+$/)
    t.same(links.read(tokenOf(url)), target)
    t.equal(links.url(target), url, 'and is the same each time')
  }
})

t.test('a token of the longest address has at most 420 characters', async (t) => {
  const domain = `${'d'.repeat(63)}.${'d'.repeat(63)}.${'d'.repeat(58)}.test`
  const address = `${'l'.repeat(254 - domain.length - 1)}@${domain}`
  t.equal(parseMailbox(address)?.address, address)
  t.equal(address.length, 254)
  const token = tokenOf(links.url({ accountId, address, topicId, emailId }))
  t.ok(token.length <= 420, `${token.length}`)
  t.same(links.read(token), { accountId, address, topicId, emailId })
})

t.test('whatever is not as it was signed is no token', async (t) => {
  const token = tokenOf(links.url({ accountId, address: 'ada@example.test', topicId }))
  for (let at = 0; at < token.length; at++) {
    const other = token[at] === 'A' ? 'B' : 'A'
    t.equal(links.read(token.slice(0, at) + other + token.slice(at + 1)), undefined)
    t.equal(links.read(token.slice(0, at)), undefined)
  }
  for (const damaged of [
    '',
    `${token}A`,
    `${token}=`,
    ` ${token}`,
    `${token.slice(0, 9)}\n${token.slice(9)}`,
    token + token,
    token.toLowerCase(),
    '__proto__',
    'A'.repeat(400),
    'A'.repeat(100_000),
  ]) {
    t.equal(links.read(damaged), undefined, damaged.slice(0, 40))
  }
  const other = makeUnsubscribeLinks(makeApplianceKey(Buffer.alloc(32, 8)), '')
  t.equal(other.read(token), undefined, 'of another appliance')
  const seen = new Set<string>([token])
  for (const target of [
    { accountId: topicId, address: 'ada@example.test', topicId },
    { accountId, address: 'ada@example.test', topicId: accountId },
    { accountId, address: 'ada@example.test' },
    { accountId, address: 'bob@example.test', topicId },
  ]) {
    seen.add(tokenOf(links.url(target)).slice(-16))
  }
  t.equal(seen.size, 5, 'each has a signature of its own')
})

t.test('a link to one page is none to the other', async (t) => {
  const centre = makePreferenceLinks(key, 'https://mail.example.test')
  const target = { accountId, address: 'ada@example.test', emailId }
  const url = centre.url(target)
  t.match(url, /^https:\/\/mail\.example\.test\/preferences\/[A-Za-z0-9_-]+$/)
  t.same(centre.read(tokenOf(url)), target)
  t.equal(links.read(tokenOf(url)), undefined)
  t.equal(centre.read(tokenOf(links.url(target))), undefined)
})

t.test('the headers are those of RFC 8058 and RFC 2919, and the composer takes them', async (t) => {
  const url = links.url({ accountId, address: 'ada@example.test', topicId })
  const extraHeaders = unsubscribeHeaders({ url, domain: 'shop.test', topicId })
  const [from, to] = [parseMailbox('news@shop.test'), parseMailbox('ada@example.test')]
  if (!from || !to) throw new Error('These are addresses')
  const { header } = composeMessage({
    from,
    to: [to],
    subject: 'News',
    text: 'Hello',
    messageId: '<1@shop.test>',
    dateMs: 0,
    extraHeaders,
  })
  const unfolded = header.toString().replace(/\r\n /g, ' ')
  t.match(unfolded, `\r\nList-Unsubscribe: <${url}>\r\n`)
  t.match(unfolded, '\r\nList-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n')
  t.match(unfolded, `\r\nList-Id: <${topicId}.marketing.shop.test>\r\n`)
  const [, , listId] = unsubscribeHeaders({ url, domain: 'shop.test' })
  t.same(listId, { name: 'List-Id', value: '<marketing.shop.test>' })
})

t.test('the footer goes to the end of what is shown, and is escaped', async (t) => {
  const footer = {
    unsubscribeUrl: 'https://m.test/unsubscribe/x?a&b"',
    preferencesUrl: 'https://m.test/preferences/"><x',
    accountName: '<b>Tom & Co</b>',
  }
  const html = (content: string) => copyOf({ html: content, text: '' }, footer).html
  const part = html('')
  t.match(part, '&lt;b&gt;Tom &amp; Co&lt;/b&gt;')
  t.match(part, 'href="https://m.test/unsubscribe/x?a&amp;b&quot;"')
  t.match(part, 'href="https://m.test/preferences/&quot;&gt;&lt;x"')
  t.match(part, />Choose what you get<\/a>.*>Unsubscribe<\/a>/)
  t.notMatch(part, '<b>')
  for (const [before, after] of [
    ['<p>Hi</p>', ''],
    ['<html><body><p>Hi</p>', '</body></html>'],
    ['<BODY>Hi', '</BODY >\n</HTML>'],
    ['<body><pre></body></pre>Hi', '</body>'],
    ['<body>İİİ 😀', '</body><!-- </body> -->'],
    ['<body>Hi', '</body></html><!-- made </b></i> with </body> love -->'],
    ['<!-- </body> -->Hi', ''],
    // What browsers show nothing of, up to the end, is behind it.
    ['<p>Hi</p>', '<!-- made </b> with </body> love'],
    ['<p>Hi', '<!-- --'],
    ['<p>Hi', '<!x </body'],
    ['<p>Hi</p>', '<style>p { color: red } </body></html>'],
    ['<p>Hi</p>', '<SCRIPT>1 </scripts></body>'],
    ['<p>Hi</p>', '<textarea></body>'],
    ['', '<title>News <body>Hi</body>'],
    ['<p>Hi</p>', '<a href="https://x.test/>Go</a></body>'],
    ["<p>Hi <b title='x'>you</b>", "<img alt='oops></body></html>"],
    ['<p>Hi</p>', '</body'],
    ['<body>Hi', '</body></html><!-- <style>'],
    ['<!-- x --><style>y</style><p title="<!--">Hi<!--> <!----!></p>', '</body>'],
    ['Hi', '</'],
    ['', '</'.repeat(100_000)],
  ] as const) {
    t.equal(html(before + after), before + part + after, (before + after).slice(0, 60))
  }
})

t.test('the text part gets the addresses to open', async (t) => {
  const footer = {
    unsubscribeUrl: 'https://m.test/u',
    preferencesUrl: 'https://m.test/p',
    accountName: 'Shop',
    topicName: 'Offers',
  }
  const { text, html } = copyOf({ html: '', text: 'Hello\n\n\n' }, footer)
  t.equal(
    text,
    'Hello\n\n---\nYou receive this email about Offers from Shop.\nChoose what you get: https://m.test/p\nUnsubscribe: https://m.test/u\n',
  )
  t.match(html, 'about Offers from Shop.')
  const french = copyOf({ html: '', text: 'Bonjour' }, footer, 'fr')
  t.match(
    french.text,
    /Vous recevez cet e-mail de Shop sur le thème « Offers »\.\n.*\nSe désabonner: /,
  )
  t.match(french.html, />Choisir ce que vous recevez<\/a>.*>Se désabonner<\/a>/)
})

t.test('an author places links and footer, or has a link in place of the footer', async (t) => {
  const { unsubscribe_url: leave, preferences_url: choose, unsubscribe_footer: place } = copyTags
  const footer = {
    unsubscribeUrl: 'https://m.test/u/T&0',
    preferencesUrl: 'https://m.test/p/T',
    accountName: 'Shop',
  }
  const htmlOf = (html: string) => copyOf({ html, text: '' }, footer).html
  const part = htmlOf('')
  t.equal(htmlOf(`<p>Hi</p>${place}<p>End ${place}</p>`), `<p>Hi</p>${part}<p>End </p>`)
  t.equal(
    htmlOf(`<!-- ${place} --><p title="${place}">Hi</p>`),
    `<!--  --><p title="">Hi</p>${part}`,
  )
  t.equal(htmlOf(`<style>${place}</style><b>${place}</b>`), `<style></style><b>${part}</b>`)
  const own = `<p><A class=x href=" ${leave}">Leave</A> or <a href="${choose}#top">choose</a></p>`
  t.equal(
    htmlOf(own),
    '<p><A class=x href=" https://m.test/u/T&amp;0">Leave</A> or <a href="https://m.test/p/T#top">choose</a></p>',
  )
  t.equal(htmlOf(own + place).split('Unsubscribe<').length, 2, 'who asks for both gets both')
  // Nobody could follow these.
  for (const none of [
    `<div style="display:none"><a href="${leave}">x</a></div>`,
    `<p style="font-size:0"><a href="${leave}">x</a></p>`,
    `<style>.no{display:none}</style><p class="no"><a href="${leave}">x</a></p>`,
    `<a href="${leave}"></a>`,
    `<div hidden>${place}</div>`,
    `<!-- <a href="${leave}"> -->`,
    `<a title="${leave}">x</a>`,
    `<b>${leave}</b>`,
  ]) {
    t.match(htmlOf(none), />Unsubscribe<\/a><\/div>\n$/, none)
  }
  const plain =
    '---\nYou receive this email from Shop.\nChoose what you get: https://m.test/p/T\nUnsubscribe: https://m.test/u/T&0\n'
  const textOf = (text: string) => copyOf({ html: own, text }, footer).text
  t.equal(textOf('Hi'), `Hi\n\n${plain}`, 'each part has its own')
  t.equal(textOf(`Leave: ${leave}\n`), 'Leave: https://m.test/u/T&0\n')
  t.equal(textOf(`Hi ${place} Bye${place}\n`), `Hi\n\n${plain}\nBye\n`)
  t.equal(textOf(place), plain)
})
