/**
 * A reply as each provider words it, for every automation that comes with Posthorn: code and text as
 * the SMTP client gives them, lines joined, addresses replaced.
 */
export const replies: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  default: {
    'rate limited': '450 4.2.0 <a@example.org>: Recipient address rejected: Rate limit exceeded',
    throttled: '451 4.7.1 Message throttled, come back later',
    'too many connections': '421 4.7.0 mx.example.org Error: too many concurrent SMTP connections',
    'too much mail':
      '450 4.7.1 <out.example>: Client host rejected: Error: too much mail from 192.0.2.7',
    'too many messages': '452 4.3.1 Too many messages from your host in this hour',
    'temporarily deferred': '421 4.7.1 Messages from 192.0.2.7 temporarily deferred',
    'listed by Spamhaus':
      '554 5.7.1 Service unavailable; Client host [192.0.2.7] blocked using zen.spamhaus.org; https://www.spamhaus.org/query/ip/192.0.2.7',
    'on a block list': '550 5.7.1 Your address is on our local block list',
    blacklisted: '554 5.7.1 192.0.2.7 is blacklisted here',
  },
  google: {
    'unusual rate':
      '421 4.7.28 Gmail has detected an unusual rate of unsolicited mail originating\n4.7.28 from your IP address. To protect our users from spam, mail sent from\n4.7.28 your IP address has been temporarily rate limited. For more information,\n4.7.28 go to https://support.google.com/mail/?p=UnsolicitedRateLimitError a1-20020a170902 - gsmtp',
    'not authenticated':
      '550 5.7.26 Your email has been blocked because the sender is unauthenticated.\n5.7.26 Gmail requires all senders to authenticate with either SPF or DKIM. - gsmtp',
    'no reverse name':
      '550 5.7.25 [192.0.2.7] The IP address sending this message does not have a\n5.7.25 PTR record setup, or the corresponding forward DNS entry does not\n5.7.25 point to the sending IP. - gsmtp',
    'low reputation':
      '550 5.7.1 [192.0.2.7 19] Gmail has detected that this message is likely\n5.7.1 suspicious due to the very low reputation of the sending IP address. - gsmtp',
  },
  outlook: {
    'server busy':
      '451 4.7.500 Server busy. Please try again later from [192.0.2.7]. (S77719) [AM7EUR03FT014.eop-EUR03.prod.protection.outlook.com]',
    'too many connections':
      '451 4.7.652 The mail server [192.0.2.7] has exceeded the maximum number of connections. (S3115)',
    'rate limited':
      '451 4.7.650 The mail server [192.0.2.7] has been temporarily rate limited due to IP reputation. For e-mail delivery information see https://aka.ms/postmaster (S775)',
    limits:
      "421 RP-001 (BAY004-MC1F38) Unfortunately, some messages from 192.0.2.7 weren't sent. Please try again. We have limits for how many messages can be sent per hour and per day.",
    'on their block list':
      "550 5.7.1 Unfortunately, messages from [192.0.2.7] weren't sent. Please contact your Internet service provider since part of their network is on our block list (S3150).",
    'banned address':
      '550 5.7.606 Access denied, banned sending IP [192.0.2.7]. To request removal from this list please visit https://sender.office.com/',
    'authentication level':
      '550 5.7.515 Access denied, sending domain EXAMPLE.COM does not meet the required authentication level.',
  },
  yahoo: {
    TS02: '421 4.7.1 [TS02] All messages from 192.0.2.7 will be deferred; Retrying will NOT succeed. See https://postmaster.yahooinc.com/error-codes',
    TSS04:
      '421 4.7.0 [TSS04] Messages from 192.0.2.7 temporarily deferred due to unexpected volume or user complaints - 4.16.55.1; see https://postmaster.yahooinc.com/error-codes',
    TSS05:
      '421 4.7.0 [TSS05] Messages from 192.0.2.7 temporarily deferred due to excessive user complaints - 4.16.56.1; see https://postmaster.yahooinc.com/error-codes',
    TSS09:
      '553 5.7.2 [TSS09] All messages from 192.0.2.7 will be permanently deferred; Retrying will NOT succeed. See https://postmaster.yahooinc.com/error-codes',
  },
  apple: {
    HCM1: '421 4.7.0 [HCM1] Message could not be processed. Please try again later. For assistance forward this error to icloudadmin@apple.com.',
    'local policy':
      '554 5.7.1 [CS01] Message rejected due to local policy. Please visit https://support.apple.com/en-us/HT204137',
  },
  comcast: {
    throttled:
      '421 4.1.0 192.0.2.7 Throttled - try again later. Please see http://postmaster.comcast.net/smtp-error-codes.php#RL000001',
    blocked:
      '554 resimta-po-14v.sys.comcast.net comcast 192.0.2.7 Comcast block for spam. Please see http://postmaster.comcast.net/smtp-error-codes.php#BL000000',
  },
  gmx: {
    'too fast': '421 gmx.net (mxgmx017) Nemesis ESMTP Service not available\nRate limit exceeded',
    'address is listed':
      '554 web.de (mxweb111) Nemesis ESMTP Service not available\nNo SMTP service\nIP address is black listed.',
    'no reverse name':
      '554 gmx.net (mxgmx114) Nemesis ESMTP Service not available\nNo SMTP service\nBad DNS PTR resource record: reverse DNS failed.',
  },
  orange: {
    'too many connections':
      '421 mwinf5c61 ME Trop de connexions, veuillez verifier votre configuration. Too many connections, slow down. OFR005_104 [104]',
    'refused for now':
      '421 mwinf5c04 ME Service refuse. Veuillez essayer plus tard. Service refused, please try later. OFR_999 [999]',
    blocked:
      '550 5.7.1 Service refuse. Veuillez essayer plus tard. service refused, please try later. OFR_506 [506]',
  },
  mimecast: {
    'unable to take it now':
      '451 Unable to process connection at this time. https://community.mimecast.com/docs/DOC-1369#451',
    'address is listed':
      '550 IP temporarily blacklisted - https://community.mimecast.com/docs/DOC-1369#550',
  },
  qq: {
    'too fast':
      '450 Connection frequency limited. http://service.mail.qq.com/cgi-bin/help?id=20022',
    'address is blocked':
      '550 Mail content denied. IP is blocked. http://service.mail.qq.com/cgi-bin/help?id=20022',
  },
  netease: {
    'MI:CEL':
      '421 MI:CEL 163 mx15,PsCowEAJ http://mail.163.com/help/help_spam_16.htm?ip=192.0.2.7&hostid=mx15',
    'RP:QRC': '450 RP:QRC 163 mx7,QMCowECpA http://mail.163.com/help/help_spam_16.htm?ip=192.0.2.7',
    'RP:TRC': '451 RP:TRC 163 mx10,SMCowEBp http://mail.163.com/help/help_spam_16.htm?ip=192.0.2.7',
    'HL:REP': '550 HL:REP 163 mx12,PcCowEDJ http://mail.163.com/help/help_spam_16.htm?ip=192.0.2.7',
  },
}

/** Requests for fewer connections in the words of other servers, by their MX. */
export const askForFewer: readonly (readonly [exchange: string, reply: string])[] = [
  ...[
    '421 Too many concurrent SMTP connections; please try again later',
    '421 4.3.2 The maximum number of concurrent connections has exceeded a limit, closing transmission channel',
    '421 4.3.2 The maximum number of concurrent server connections has exceeded a per-source limit',
    '421 4.3.2 Too many open connections.',
    '421 4.3.2 Connection rate limit exceeded.',
    '421 Too many SMTP sessions for this host',
    '421 4.7.0 too many simultaneous connections',
    '421 Exceeds per-domain connection limit for example.com',
    '421 4.7.0 Connection limit reached for 192.0.2.1',
    '421 Maximum concurrent connections reached',
    '421 4.7.1 maximum connections from your IP reached',
    '421 max concurrent sessions exceeded',
    '450 4.7.1 Error: too many new TLS sessions from 192.0.2.1',
    '421 4.4.5 Too many TLS sessions at this time',
    '421 All available IPs are at maximum connection limit',
    '421 Connection refused, too many sessions from This IP. Lower the number of concurrent sessions.',
    '452 4.7.0 Too many concurrent deliveries from your host',
    '421 Trop de connexions, ralentissez',
    '421 zu viele gleichzeitige Verbindungen von 192.0.2.1',
  ].map((reply) => ['mx.small.example', reply] as const),
  [
    'a.olc.protection.outlook.com',
    '421 Connection refused from 192.0.2.1 due to exceed max concurrent connections. IB007',
  ],
  ['aspmx.l.google.com', '421 4.7.0 Too many concurrent SMTP connections from your IP'],
  ['mta7.am0.yahoodns.net', '421 [HX01] Too many connections'],
  [
    'mx1.comcast.net',
    '421 comcast Try again later; too many sessions http://postmaster.comcast.net/smtp-error-codes.php#RL000003',
  ],
  ['mx00.gmx.net', '421 gmx.net Nemesis ESMTP Service not available: Too many connections'],
]

/** What sounds alike, and is of one session, one mail or one mailbox: the site goes on as it did. */
export const askForNothing: readonly string[] = [
  '421 Max message per connection reached, closing transmission channel',
  '452 4.3.1 Too many messages for this session',
  '421 4.7.0 Too many messages in this connection',
  '451 4.7.653 The mail server [192.0.2.7] has exceeded maximum number of messages per connection.',
  '452 4.5.3 Error: too many recipients',
  '421 4.7.0 Error: too many errors',
  '452 4.2.2 user has too many messages on the server',
  '450 4.2.1 mailbox has too many messages',
  '421 maximum connection time exceeded',
]
