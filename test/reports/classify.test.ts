import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import t from 'tap'
import { packageFile } from '../../src/config/index.js'
import {
  type BounceClass,
  type BounceRules,
  bounceClasses,
  classify,
  loadBounceRules,
  saidInReply,
  saidOf,
  type Verdict,
} from '../../src/reports/index.js'
import { makeTempDir } from '../support/store.js'
import { shippedRules } from './fixtures.js'

function verdictOn(reply: string, host?: string, rules: BounceRules = shippedRules): Verdict {
  const said = saidInReply(reply, host)
  if (said === undefined) throw new Error(`${reply} is no reply`)
  return classify(rules, said)
}

const google = 'aspmx.l.google.com'
const outlook = 'receiver.mail.protection.outlook.com'
const yahoo = 'mta7.am0.yahoodns.net'

/** Reply, class and, where it matters, the host that says it. */
const truth: readonly (readonly [string, BounceClass, string?])[] = [
  // Dead addresses, by status or by what is said.
  ['550 5.1.1 gone', 'bad-mailbox'],
  ['550 5.1.3 bad address syntax', 'bad-mailbox'],
  ['550 5.1.6 moved', 'bad-mailbox'],
  ['550 No such user here', 'bad-mailbox'],
  ['551 User not local; user <ada@b.test> does not exist', 'bad-mailbox'],
  ['553 sorry, no mailbox here by that name', 'bad-mailbox'],
  ['550-5.1.1 The email account that you tried to reach does\n5.1.1 not exist', 'bad-mailbox'],
  ['550 5.1.1 <a@b.test>: Recipient address rejected: User unknown in table', 'bad-mailbox'],
  ['550 5.1.1 x https://support.google.com/mail/?p=NoSuchUser a1', 'bad-mailbox', google],
  ['550 5.4.1 [a@b.test]: Recipient address rejected: Access denied', 'bad-mailbox', outlook],
  ['550 5.5.0 Requested action not taken: mailbox unavailable (S2)', 'bad-mailbox', outlook],
  ["554 delivery error: dd This user doesn't have a yahoo.com account", 'bad-mailbox', yahoo],
  ['550 5.1.2 no such domain', 'bad-domain'],
  ['556 5.1.10 null', 'bad-domain'],
  ['556 Domain does not take mail', 'bad-domain'],
  ['525 5.7.13 account off', 'disabled'],
  ['550 5.2.1 The email account that you tried to reach is disabled', 'disabled', google],
  ['550 5.2.1 mailbox off', 'disabled'],
  ['550 Message was not accepted -- invalid mailbox. user not found', 'bad-mailbox', 'mxs.mail.ru'],
  ['550 5.1.10 RESOLVER.ADR.RecipientNotFound; not found by SMTP address lookup', 'bad-mailbox'],
  ['550 5.4.310 DNS domain b.test does not exist', 'bad-domain'],
  // A mailbox that may recover.
  ['452 4.2.2 over quota', 'mailbox-full'],
  ['552 5.2.2 x', 'mailbox-full'],
  ['552 Mailbox quota exceeded', 'mailbox-full'],
  ['550 5.1.1 <a@b.test> mailbox is full', 'mailbox-full'],
  ['552-5.2.2 x https://support.google.com/mail/?p=OverQuotaPerm a1', 'mailbox-full', google],
  ['450 4.2.1 The user is receiving mail at a rate that prevents', 'recipient-rate', google],
  ['550 5.2.1 The user is receiving mail at a rate that prevents', 'recipient-rate', google],
  // Later.
  ['450 4.7.1 Greylisted, see http://x.test', 'busy'],
  ['451 4.7.1 x', 'busy'],
  ['451 4.3.0 x', 'busy'],
  ['451 Temporary local problem', 'busy'],
  ['421 x', 'throttled'],
  ['421 4.7.0 x', 'throttled'],
  ['421 4.7.28 x', 'throttled'],
  ['421 4.7.0 [TSS04] Messages from 192.0.2.1 temporarily deferred', 'throttled', yahoo],
  ['451 4.7.500 Server busy. Please try again later (S77)', 'throttled', outlook],
  ['452 4.5.3 Too many recipients', 'busy'],
  // About us.
  ['550 5.7.511 Access denied, banned sender[192.0.2.1]', 'blocked', outlook],
  ['550 5.7.1 Client host [192.0.2.1] blocked using zen.spamhaus.org', 'blocked'],
  [
    '550 5.7.1 Unfortunately, x part of their network is on our block list (S3150)',
    'blocked',
    outlook,
  ],
  ['554 Your access was rejected due to poor reputation', 'blocked'],
  [
    '550 5.7.26 This mail has been blocked because the sender is unauthenticated',
    'sender-authentication',
    google,
  ],
  ['550 5.7.25 x', 'sender-authentication'],
  ['550 5.7.40 x', 'sender-authentication'],
  ['550 5.7.515 Access denied', 'sender-authentication', outlook],
  ['550 5.7.1 Email rejected per DMARC policy for sender.test', 'sender-authentication'],
  ['550 5.1.8 <a@b.test>: Sender address rejected: Domain not found', 'sender-authentication'],
  ['450 4.1.8 Sender address rejected: Domain not found', 'sender-authentication'],
  ['554 5.7.1 Message rejected as spam', 'content'],
  ['550 5.6.0 x', 'content'],
  ['550 5.7.1 Virus found', 'content'],
  ['552 5.3.4 x', 'too-large'],
  ['552 5.2.3 x', 'too-large'],
  ['552 Message size exceeds fixed limit', 'too-large'],
  ['552 5.1.1 <a@b.test> Mailbox delivery failure policy error', 'content', 'mx.zoho.com'],
  // About the way.
  ['550 5.4.4 x', 'routing'],
  ['554 5.4.6 Too many hops', 'routing'],
  ['554 5.7.1 <a@b.test>: Relay access denied', 'routing'],
  ['550 5.5.1 x', 'protocol'],
  ['503 bad sequence of commands', 'protocol'],
  ['451 4.4.2 x', 'unreachable'],
  // Of the session or of a time, under whatever status: nothing is said of this recipient.
  ['550 5.1.1 Too many invalid recipients', 'throttled'],
  ['550 Too many unknown users in this session', 'throttled'],
  ['550 5.1.1 You have sent to too many recipients this hour', 'throttled'],
  ['550 5.1.1 Daily limit of recipients reached: daily quota exceeded', 'throttled'],
  // 'No such user' beside something else that explains the refusal.
  ['550 5.1.1 Relaying denied: no such user or domain here', 'routing'],
  ['554 5.1.1 no such user, and this is not an open relay', 'routing'],
  ['554 5.1.1 mail forwarding loop, no such user', 'routing'],
  ['550 5.1.1 Message content rejected; no such user', 'content'],
  ['550 5.1.1 no such user for this content', 'content'],
  ['550 5.1.1 user unknown; message looks like spam', 'content'],
  ['550 5.1.1 User unknown temporarily', 'busy'],
  ['550 5.2.1 Mailbox temporarily disabled', 'busy'],
  ['550 5.1.1 Sender rejected: user unknown', 'sender-authentication'],
  ['550 5.1.1 User unknown (in reply to MAIL FROM command)', 'sender-authentication'],
  ['550 5.1.2 Domain does not exist (in reply to MAIL FROM command)', 'sender-authentication'],
  ['550 5.1.2 Host not found, try again', 'unreachable'],
  ['550 Client host unknown: your host has no name', 'unknown'],
  // Where a link says so, it is no word of the server.
  ['550 5.1.1 User unknown, see http://help.test/spam_relay_content', 'bad-mailbox'],
  // Domains that take no mail.
  ['550 5.4.4 Invalid domain', 'bad-domain'],
  ['553 5.1.2 We were unable to find the recipient domain', 'bad-domain'],
  ['550 Sorry, I could not find a mail exchanger or IP address. (#5.4.4)', 'bad-domain'],
  ['550 5.1.2 No MX record found for domain', 'bad-domain'],
  ['554 5.1.0 The domain has a Null MX', 'bad-domain'],
  ['550 Host/domain does not accept mail', 'bad-domain'],
  ['550 Illegal host/domain name found', 'bad-domain'],
  ['550 Nonexistent domain', 'bad-domain'],
  ['553 some.test does not exist', 'unknown'],
  // The domain is there, and what it lacks now it may have tomorrow.
  [
    "550 5.4.4 DNS Error: DNS type 'mx' lookup of b.test responded with code NOERROR DNS type 'mx' lookup of b.test had no relevant answers.",
    'unreachable',
  ],
  [
    "550 5.1.2 DNS Error: DNS type 'mx' lookup of b.test responded with code NXDOMAIN Domain name not found: b.test",
    'bad-domain',
  ],
  ['550 5.1.2 Host unknown', 'bad-domain'],
  // Exchange and Hotmail.
  ['550 5.4.1 Recipient address rejected: Access denied. AS(201806281)', 'bad-mailbox'],
  ['550 5.1.1 RESOLVER.ADR.ExRecipNotFound; not found', 'bad-mailbox'],
  ['550 5.7.1 RESOLVER.RST.AuthRequired; authentication required', 'sender-authentication'],
  ['550 5.2.3 RESOLVER.RST.RecipSizeLimit; message too large', 'too-large'],
  ['550 Requested action not taken: mailbox unavailable (-1:1:-1)', 'bad-mailbox', outlook],
  // No longer there.
  ['550 Mailbox is frozen', 'disabled'],
  ['550 Account blocked', 'disabled'],
  ['554 <a@b.test> is no longer valid', 'disabled'],
  ['550 Your account is blocked', 'unknown'],
  // Full, in older words.
  ['550 User mailbox exceeds allowed size', 'mailbox-full'],
  ['550 mailbox is full: retry timeout exceeded', 'mailbox-full'],
  ['550 maildir delivery failed: userdisk quota exceeded', 'mailbox-full'],
  ['550 User has too many messages on the server', 'mailbox-full'],
  // Policy, authentication, names of hosts.
  ['550 5.7.1 Message rejected due to local policy', 'content'],
  ['554 5.7.1 Email rejected for policy reasons', 'content'],
  ['550 5.7.1 Delivery not authorized, message refused', 'blocked'],
  ['530 5.7.0 Authentication required', 'sender-authentication'],
  ['550 5.7.1 Multiple authentication checks failed', 'sender-authentication'],
  ['551 Server access forbidden by invalid RDNS record', 'sender-authentication'],
  ['550 domain [b.test] mismatches client ip 192.0.2.1', 'sender-authentication'],
  ['550 5.2.0 Mail rejete. Mail rejected. ofr_506 [506]', 'content', 'smtp-in.orange.fr'],
  // The mailbox is there, and does not want it.
  ['550 5.1.1 RCP-P2 Refused due to recipient preferences', 'content'],
  ['550 5.1.1 The user refuses to receive this mail', 'content'],
  ['550 : User unknown', 'content', 'lsean.ezweb.ne.jp'],
  ['550 <a@ezweb.ne.jp>: User unknown', 'bad-mailbox', 'lsean.ezweb.ne.jp'],
  ['550 : User unknown', 'bad-mailbox'],
  // What was said before or after RCPT.
  ['550 User unknown (in reply to HELO command)', 'sender-authentication'],
  ['550 User unknown (in reply to end of DATA command)', 'bad-mailbox'],
  ['554 No (in reply to end of DATA command)', 'content'],
  ['550 5.1.1 User unknown (in reply to end of DATA command)', 'bad-mailbox'],
  ['552 Quota exceeded (in reply to end of DATA command)', 'mailbox-full'],
  ['554 This account has been disabled (in reply to end of DATA command)', 'disabled'],
  ['503 Bad sequence of commands (in reply to MAIL FROM command)', 'protocol'],
  // Of the program that delivers, not of the mailbox.
  ['550 5.1.1 procmail: Couldn\'t create "/var/mail/ada": No such user', 'busy'],
  // RFC 7504, RFC 7505, and what only looks like them.
  ['521 5.3.2 System not accepting network messages', 'bad-domain'],
  ['550 5.3.2 System not accepting network messages', 'unknown'],
  ['550 an MX or SRV record indicated no SMTP service', 'bad-domain'],
  ['554 Command died with status 2: "/usr/bin/deliver"', 'busy'],
  ['550 Server configuration error', 'busy'],
  [
    '550 You are not subscribed to this list, and it is a closed mailing list',
    'sender-authentication',
  ],
  // What Postfix says of a null MX (before 3.0) and of an MX that is an address: the latter may be mended.
  [
    '550 Name service error for name=b.test type=MX: Malformed or unexpected name server reply',
    'unreachable',
  ],
  // By rules that are not told, and the sender's part in them.
  ['550 Access denied', 'blocked'],
  ['554 5.7.1 <a@b.test>: Recipient address rejected: Access denied', 'unknown'],
  ["550 5.7.1 can't determine Purported Responsible Address", 'sender-authentication'],
  ['550 You may not have permission to post messages to the group', 'sender-authentication'],
  ["554 Transaction failed: Duplicate header 'DKIM-Signature'", 'content'],
  ["554 You've reached your daily relay quota", 'throttled'],
  ['554 malformed address: <b@c.test> may not follow <a@b.test>', 'protocol'],
  ['554 Could not deliver for the last 432000 seconds. Giving up.', 'unreachable'],
  // A 5yz alone proves nothing.
  ['550 x', 'unknown'],
  ['550 5.7.1 x', 'unknown'],
  ['550 5.0.0 x', 'unknown'],
  ['552 x', 'unknown'],
  ['554 Transaction failed', 'unknown'],
  ['550 Requested action not taken: mailbox unavailable', 'unknown'],
]

t.test('replies get the class that a postmaster would give them', async (t) => {
  for (const [reply, expected, host] of truth) {
    const { class: found, rule } = verdictOn(reply, host)
    t.equal(found, expected, `${reply} (by ${rule})`)
  }
})

t.test('every class does what notes/mta.md §3 says', async (t) => {
  const effects = (reply: string) => {
    const { class: name, retry, suppress, soft, event, bounceType } = verdictOn(reply)
    return [name, retry, suppress ? 'now' : soft ? 'repeated' : 'no', event, bounceType]
  }
  for (const [reply, ...expected] of [
    ['550 5.1.1 x', 'bad-mailbox', 'no', 'now', 'bounced', 'Permanent'],
    ['550 5.1.2 x', 'bad-domain', 'no', 'now', 'bounced', 'Permanent'],
    ['525 5.7.13 x', 'disabled', 'no', 'now', 'bounced', 'Permanent'],
    ['552 5.2.2 x', 'mailbox-full', 'no', 'repeated', 'bounced', 'Transient'],
    ['452 4.2.2 x', 'mailbox-full', 'yes', 'no', 'bounced', 'Transient'],
    ['550 receiving mail at a rate', 'recipient-rate', 'slow', 'no', 'bounced', 'Transient'],
    ['450 receiving mail at a rate', 'recipient-rate', 'slow', 'no', 'bounced', 'Transient'],
    ['451 4.7.1 x', 'busy', 'yes', 'no', 'bounced', 'Transient'],
    ['421 4.7.0 x', 'throttled', 'yes', 'no', 'bounced', 'Transient'],
    ['550 spamhaus', 'blocked', { atMost: 3 }, 'no', 'bounced', 'Transient'],
    ['450 spamhaus', 'blocked', 'yes', 'no', 'bounced', 'Transient'],
    ['550 5.7.26 x', 'sender-authentication', 'no', 'no', 'bounced', 'Transient'],
    ['550 5.6.0 x', 'content', 'no', 'no', 'bounced', 'Transient'],
    ['552 5.3.4 x', 'too-large', 'no', 'no', 'bounced', 'Transient'],
    ['550 5.4.6 x', 'routing', 'once', 'no', 'bounced', 'Transient'],
    ['503 5.5.1 x', 'protocol', 'once', 'no', 'failed', 'Transient'],
    ['451 4.4.1 x', 'unreachable', 'yes', 'no', 'failed', 'Transient'],
    ['550 x', 'unknown', 'no', 'no', 'bounced', 'Transient'],
    // RFC 5321 §4.2.1: a 4yz is never final, whatever it says.
    ['450 4.1.1 x', 'bad-mailbox', 'yes', 'no', 'bounced', 'Transient'],
  ] as const) {
    t.same(effects(reply), expected, reply)
  }
  t.same(new Set(shippedRules.classes.keys()), new Set(bounceClasses))
})

t.test('only what says that nobody is there suppresses at once', async (t) => {
  const suppressing = new Set(
    truth.filter(([reply, , host]) => verdictOn(reply, host).suppress).map(([, name]) => name),
  )
  t.same(suppressing, new Set(['bad-mailbox', 'bad-domain', 'disabled']))
  for (const [reply, , host] of truth.filter(([text]) => text.startsWith('4'))) {
    const { suppress, soft, retry } = verdictOn(reply, host)
    t.same({ suppress, soft, no: retry === 'no' }, { suppress: false, soft: false, no: false })
  }
})

t.test("'unknown' in answer to the message counts when it is repeated", async (t) => {
  const once = { suppress: false, soft: true, bounceType: 'Transient' }
  t.match(verdictOn('550 Unknown user a@b.test (in reply to end of DATA command)'), once)
  t.match(verdictOn('550 Unknown domain (in reply to DATA command)'), once)
  for (const reply of [
    '550 Unknown user a@b.test (in reply to RCPT TO command)',
    '550 5.1.1 Unknown user a@b.test (in reply to end of DATA command)',
    '550 This account has been disabled (in reply to end of DATA command)',
  ]) {
    t.match(verdictOn(reply), { suppress: true, soft: false, bounceType: 'Permanent' }, reply)
  }
  const theirs =
    "554 dd This user doesn't have a yahoo.com account (in reply to end of DATA command)"
  t.match(verdictOn(theirs, yahoo), { suppress: true }, 'a provider whose words are known')
})

t.test('a final report of class 4 counts as final', async (t) => {
  const said = { text: '', code: 0, host: undefined, final: true }
  t.match(classify(shippedRules, { ...said, status: '4.1.1' }), { suppress: true })
  t.match(classify(shippedRules, { ...said, status: '4.4.1' }), { suppress: false, soft: true })
  t.match(classify(shippedRules, { ...said, status: '4.2.2' }), { suppress: false, soft: true })
})

t.test('the last words of a report that is final count as final', async (t) => {
  const said = { host: undefined, status: '4.0.0', final: true }
  const rule = (text: string, code = 0) => classify(shippedRules, { ...said, text, code })
  t.match(rule('lookup of gone.test responded with code NXDOMAIN'), {
    class: 'bad-domain',
    suppress: true,
  })
  t.match(rule('450 4.0.0 user unknown', 450), { class: 'bad-mailbox', suppress: true })
  t.match(rule('450 4.0.0 greylisted', 450), { class: 'busy', suppress: false })
  const live = saidInReply('450 4.0.0 user unknown')
  t.match(live && classify(shippedRules, live), { suppress: false }, 'but none of a live 4yz')
})

t.test('what a gateway writes around a reply is not the reply', async (t) => {
  const about = (diagnostic: string) =>
    classify(
      shippedRules,
      saidOf(
        {
          action: 'failed',
          status: '',
          diagnostic,
          remoteMta: '',
          originalRecipient: '',
          finalRecipient: 'a@b.test',
        },
        'gw.test',
      ),
    ).class
  for (const [diagnostic, expected] of [
    ["5.1.0 - Unknown address error 550-'5.7.1 content refused' (delivery attempts: 0)", 'content'],
    ["5.1.0 - Unknown address error 550-'No such user here' (delivery attempts: 0)", 'bad-mailbox'],
    ['550 5.1.351 Remote server returned unknown recipient -> 550 5.7.1 spam', 'content'],
    ['host mx.unknown.user.test said: 554 5.7.1 Relay access denied', 'routing'],
    ['timeout after 550 seconds', 'unknown'],
  ] as const) {
    t.equal(about(diagnostic), expected, diagnostic)
  }
})

t.test('what an address says is not what the server says', async (t) => {
  t.equal(verdictOn('550 5.0.0 <disabled@spam.test> x').class, 'unknown')
  t.equal(verdictOn('550 5.0.0 user.unknown@x.test is not for you').class, 'unknown')
  t.equal(verdictOn('550 5.0.0 antispamhausen').class, 'unknown', 'nor the middle of a word')
  t.equal(verdictOn(`550 ${'x'.repeat(1_000)} user unknown`).class, 'unknown', 'nor what is far')
})

t.test('no reply takes long to classify', async (t) => {
  const began = performance.now()
  for (const text of [
    'mailbox ',
    'exceeded ',
    'a@',
    '4.4.4 ',
    '<',
    ' ',
    '5.1.1 user ',
    'doesn’t have a ',
  ]) {
    const said = { text: text.repeat(200_000), code: 550, status: undefined, host: google }
    for (let i = 0; i < 10; i++) classify(shippedRules, { ...said, final: true })
  }
  const took = performance.now() - began
  t.ok(took < 2_000, `80 of them in ${Math.round(took)} ms`)
})

t.test('provider, text, status and code are asked in this order', async (t) => {
  const rules = rulesOf(
    t,
    `${classes()}
[providers.p]
hosts = ["p.test"]
[[providers.p.text]]
name = "theirs"
class = "content"
patterns = ["word"]
[[text]]
name = "any"
class = "routing"
patterns = ["word * end", "word"]
unless = ["but * not"]
[status]
"5.1.1" = "bad-mailbox"
"x.1.1" = "busy"
"5.1.x" = "disabled"
"x.1.x" = "protocol"
[code]
"5" = "unknown"
"55" = "too-large"
"550" = "blocked"
`,
  )
  const rule = (reply: string, host?: string) =>
    verdictOn(reply, host, rules).rule.replace(/of .*\//, 'of ')
  t.equal(rule('550 5.1.1 a word', 'MX.P.test.'), 'providers.p.text "theirs" of rules.toml')
  t.equal(rule('550 5.1.1 a word', 'evilp.test'), 'text "any" of rules.toml')
  t.equal(rule('550 5.1.1 a word, but it is not'), 'status 5.1.1 of rules.toml', 'unless')
  t.equal(rule('550 5.1.1 a word, http://but/not'), 'text "any" of rules.toml', 'links say nothing')
  t.equal(rule('550 5.1.1 x', 'p.test'), 'status 5.1.1 of rules.toml')
  t.equal(rule('450 4.1.1 x'), 'status x.1.1 of rules.toml')
  t.equal(rule('550 5.1.9 x'), 'status 5.1.x of rules.toml')
  t.equal(rule('450 4.1.9 x'), 'status x.1.x of rules.toml')
  t.equal(rule('550 5.9.9 x'), 'code 550 of rules.toml')
  t.equal(rule('552 x'), 'code 55 of rules.toml')
  t.equal(rule('500 x'), 'code 5 of rules.toml')
  t.equal(rule('450 x'), 'no rule for 450')
  t.equal(rule('550 4.1.1 x'), 'code 550 of rules.toml', 'RFC 2034 §4: of another class, just text')
})

t.test("the operator's file stands over the one that comes with Posthorn", async (t) => {
  const own = `
[classes.blocked]
retry = "yes"
[providers.google]
hosts = ["google.com", "google.test"]
[[text]]
name = "unknown user"
class = "content"
patterns = ["user unknown"]
[[text]]
name = "ours"
class = "routing"
code = "552"
patterns = ["house * full"]
[status]
"5.1.1" = "unknown"
`
  const rules = rulesOf(t, own, [packageFile('config/bounce-rules.toml')])
  t.equal(verdictOn('550 user unknown', undefined, rules).class, 'content')
  t.equal(verdictOn('550 no such user', undefined, rules).class, 'unknown', 'the old one is gone')
  t.match(verdictOn('550 5.1.1 x', undefined, rules).rule, /^status 5\.1\.1 of .+\/rules\.toml$/)
  t.equal(verdictOn('552 the House is FULL', undefined, rules).class, 'routing')
  t.equal(verdictOn('550 the house is full', undefined, rules).class, 'unknown')
  t.match(verdictOn('550 spamhaus', undefined, rules), { retry: 'yes', bounceType: 'Transient' })
  t.equal(verdictOn('550 p=DisabledUser', 'mx.google.test', rules).class, 'disabled')
})

t.test('a bad file is refused with all that is wrong in it', async (t) => {
  const refused = (text: string, expected: RegExp) =>
    t.throws(() => rulesOf(t, text, [packageFile('config/bounce-rules.toml')]), {
      name: 'OperatorError',
      message: expected,
    })
  refused(
    `[class.x]
[classes.nonsense]
[classes.content]
retry = 0
suppress = "maybe"
[providers.p]
[[text]]
[[text]]
name = "a"
class = "bad"
patterns = []
unless = "x"
colour = 1
[status]
"5.1" = "content"
"5.1.1" = 1
[code]
"250" = "content"
`,
    new RegExp(
      [
        'Bad bounce rules .*rules.toml',
        'class.: no such table; known here: classes, providers, text, status, code',
        '"nonsense" given, expected one of bad-mailbox',
        'classes.content.: retry: 0 given, expected "no"',
        'suppress: "maybe" given, expected no or now or repeated',
        'providers.p.: hosts: nothing given',
        'text.. 1: name: nothing given',
        'text.. "a": colour: no such key',
        'text.. "a": class: "bad" given',
        'text.. "a": patterns: .. given, expected a list',
        'text.. "a": unless: "x" given, expected a list',
        'status.: "5.1" given, expected a code',
        'status.: 5.1.1: 1 given',
        'code.: "250" given',
      ].join('[\\s\\S]*'),
    ),
  )
  refused('a = ', /rules\.toml is not valid TOML/)
  t.throws(() => loadBounceRules(['/nowhere/x.toml']), { message: /Cannot read the bounce rules/ })
  t.throws(() => rulesOf(t, ''), { message: /classes.bad-mailbox.: nothing given/ })
})

/** All classes, as a file that stands alone has to name them. */
const classes = () =>
  bounceClasses
    .map(
      (name) =>
        `[classes.${name}]\nretry = "no"\nsuppress = "no"\nevent = "bounced"\ntype = "Transient"\n`,
    )
    .join('')

function rulesOf(t: Parameters<typeof makeTempDir>[0], text: string, below: string[] = []) {
  const file = join(makeTempDir(t), 'rules.toml')
  writeFileSync(file, text)
  return loadBounceRules([...below, file])
}
