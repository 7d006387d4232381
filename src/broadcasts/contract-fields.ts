import { shownCount } from '../amounts/index.js'
import { isZone } from '../clock/index.js'
import { shape } from '../contract/index.js'
import {
  attachments,
  content,
  headers,
  recipient,
  replyTo,
  scheduledAt,
  sender,
  tags,
  unknownFields,
} from '../emails/contract.js'
import {
  aLine,
  bodyId,
  flag,
  hoursOfDays,
  list,
  maybe,
  oneOf,
  orWord,
  suchAs,
  table,
  text,
  textThat,
  whole,
  zoneName,
} from '../fields/index.js'
import { blocks } from '../templates/contract.js'
import { mostAnHour } from './pace.js'
import { whoNames } from './report-people.js'
import { mostParts } from './whom.js'

/* Requests about campaigns: the fields of the contract, and ours that a single mail has too. */

/** Counted in code points, not in UTF-16 units: 200 characters are 200 for an emoji too. */
function line(least: 0 | 1, about: string, most = 200) {
  return textThat(
    `a string of ${least} to ${most} characters without control characters`,
    (value) =>
      (value.trim() !== '' || (least === 0 && value === '')) &&
      [...value].length <= most &&
      // mta.md §4.1: none of these may reach a header. Half of a surrogate pair is no character.
      !/[\p{Cc}\p{Zl}\p{Zp}\p{Cs}]/u.test(value),
    text(about, { ...(least > 0 && { minLength: least }), maxLength: most }),
    aLine(least, most),
  )
}

const parts = (about: string) => maybe(list(bodyId('The id of one'), { most: mostParts, about }))

// Only mails tell who waits, or was cancelled one by one, so no rule can.
const whoOfRules = whoNames.filter((who) => who !== 'waiting' && who !== 'cancelled')

const fields = {
  listId: maybe(bodyId('The contact list that it goes to; or `audience`, one of both')),
  audience: maybe(
    table(
      {
        lists: parts('Lists whose people get it'),
        segments: parts('Segments whose people get it'),
        withoutLists: parts('Lists whose people do not get it'),
        withoutSegments: parts('Segments whose people do not get it'),
        ofBroadcast: maybe(
          bodyId(
            'A campaign that was sent, together with `who`: the people behind that number of its report get it. They are one of the `segments` from then on, which is made where there is none',
          ),
        ),
        who: maybe(
          oneOf(whoOfRules, 'Which of them, as `GET /v1/broadcasts/:id/recipients` has it'),
        ),
      },
      {
        noOthers: true,
        about:
          'Everybody of these lists and segments, once each, less those of the others; at most 20 in all. A campaign to segments begins once they are up to date.',
      },
    ),
  ),
  from: sender(
    text('The sender, on a verified domain of the account', {
      examples: ['News <news@example.com>'],
    }),
  ),
  subject: line(
    1,
    'The subject, at most 200 characters; merge tags as in the HTML, but those of links. One that is empty for somebody of whom nothing is known is a 422',
  ),
  html: maybe(
    content(
      1,
      text(
        'The content in Liquid, at most 2 MiB. Merge tags: `{{firstName}}`, `{{lastName}}`, `{{email}}` and what is in the metadata; an empty one renders as nothing, or as `| default: "there"` says. `{{ unsubscribe_url }}` and `{{ preferences_url }}` are the recipient\'s own links, `{{ view_url }}` is where they see theirs in a browser (empty without `archive`), `{{ unsubscribe_footer }}` places the footer: without it the footer is at the end, and it is left out where a link of yours leads to `{{ unsubscribe_url }}`. In an `href` a tag may be percent-encoded (`%7B%7B`). The text part is made from it. Required unless there are `blocks`',
        { minLength: 1 },
      ),
    ),
  ),
  blocks: maybe(blocks),
  previewText: maybe(
    line(
      0,
      'What inboxes show beside the subject, at most 200 characters; merge tags as there. Readers of the mail do not see it',
    ),
  ),
  topicId: maybe(
    bodyId(
      'The topic: whoever has left it gets nothing, and unsubscribing is from this topic only',
    ),
  ),
  name: maybe(line(1, 'A name for yourself, which recipients never see')),
  replyTo: maybe(replyTo),
  headers: maybe(headers),
  tags: maybe(tags),
  attachments: maybe(attachments),
  scheduledAt: maybe(
    scheduledAt(
      'When to dispatch it: ISO 8601, in the future, however far ahead; UTC if it has no zone',
    ),
  ),
  localTimeOf: maybe(
    zoneName(
      'Each recipient gets it when their own clock (`timeZone` in their metadata) shows what clocks in this zone show at `scheduledAt`; who has no zone, by this one. It begins up to 26 hours before. With `variants` the rest gets the chosen one when their clocks next show that time',
    ),
  ),
  variants: maybe(
    list(
      table(
        {
          key: maybe(
            textThat(
              'one to eight letters or digits',
              (value) => /^[A-Za-z0-9]{1,8}$/.test(value),
              text('Its key; by default A, B, C …'),
            ),
          ),
          subject: maybe(line(1, 'Its subject')),
          fromName: maybe(line(1, 'The name of its sender')),
          previewText: maybe(line(1, 'Its preview text')),
          html: maybe(
            content(1, text('Its content, in place of the campaign’s', { minLength: 1 })),
          ),
          blocks: maybe(blocks),
        },
        { about: 'A version: what is not given is as the campaign has it' },
      ),
      {
        most: 5,
        about:
          'Two to five versions, of which a part of the audience tries each; the rest gets the best. The first is the one that the others are compared with. Empty: none',
      },
    ),
  ),
  variantTest: maybe(
    table(
      {
        share: maybe(
          whole(
            'Percent of the audience that the test goes to, at least 100 people a version; by default 20. At 100 there is no rest',
            { least: 1, most: 100 },
          ),
        ),
        decideAfter: maybe(
          orWord(
            'by hand',
            {
              expected: 'a whole number from 1 to 168 or "by hand"',
              meaning: 'when you choose one',
            },
            whole('Hours after the last mail of the test; by default 4', { least: 1, most: 168 }),
          ),
        ),
        by: maybe(
          oneOf(
            ['clicks', 'opens'],
            'What versions are measured by, of the mails that arrived; only people’s count. By default `clicks`',
          ),
        ),
        ifClose: maybe(
          oneOf(
            ['control', 'wait'],
            'What the rest gets where no version is better than all others with a chance of 90 %: the first one, or nothing before you choose. By default `control`',
          ),
        ),
      },
      { about: 'How the `variants` are tried; kept only together with them' },
    ),
  ),
  archive: maybe(
    flag(
      'Whether everybody can see it on the public page of past campaigns, as somebody of whom nothing is known, and each recipient theirs by `{{ view_url }}`; by default not. It may be changed at any time',
    ),
  ),
  rate: maybe(
    whole('At most so many mails an hour; by default as fast as they can leave', {
      least: 1,
      most: mostAnHour,
    }),
  ),
  window: maybe(
    hoursOfDays('The hours in which its mails leave; of a minute before they end some may be late'),
  ),
}
const { listId, audience, from, subject, topicId, rate, window } = fields

/** The contract's request has no drafts, so a field asks for one; it is never the default. */
export const NewBroadcast = shape(
  'NewBroadcast',
  table(
    { ...fields, draft: maybe(flag('Keeps it until it is sent by its own endpoint')) },
    { about: `${unknownFields}.` },
  ),
)

/** In every body null means absent, so an empty text removes a topic, a name or a time. */
export const BroadcastChanges = shape(
  'BroadcastChanges',
  table(
    {
      ...fields,
      from: maybe(from),
      subject: maybe(subject),
      topicId: maybe(
        textThat('a UUID', () => true, text('The id of the topic; an empty text takes it away'), {
          is: 'choice',
        }),
      ),
      rate: maybe(
        orWord(
          'none',
          {
            expected: `a whole number from 1 to ${shownCount(mostAnHour)} or "none"`,
            meaning: 'as fast as they can',
          },
          rate,
        ),
      ),
      window: maybe(
        orWord(
          'none',
          {
            expected:
              'hours such as {"from": "09:00", "to": "17:00", "zone": "Africa/Lagos"}, or "none"',
            meaning: 'at any time',
          },
          window,
        ),
      ),
      localTimeOf: maybe(
        textThat(
          'a time zone such as "Africa/Lagos", or an empty text',
          (value) => value === '' || isZone(value),
          text('As for a new campaign. An empty text takes it away'),
          suchAs('a time zone', 'Africa/Lagos'),
        ),
      ),
      name: maybe(line(0, 'A name of at most 200 characters; an empty text takes it away')),
      scheduledAt: maybe(
        scheduledAt(
          'When to dispatch it, as for a new campaign. An empty text takes the time away: the draft then goes at once when you send it',
        ),
      ),
    },
    { atLeastOne: true, about: `What is to be changed, at least one. ${unknownFields}.` },
  ),
)

/** interface.md: the body of a campaign plus `to`. */
export const TestBroadcast = shape(
  'TestBroadcast',
  table(
    {
      ...fields,
      to: recipient(
        text(
          'The mailbox that gets the test: of an active team member, or one on a verified domain of the account',
          { examples: ['me@example.com'] },
        ),
      ),
      as: maybe(
        line(1, 'The address of a contact whose data the mail has; without it, those of `to`', 320),
      ),
    },
    { about: `The campaign, and whom to send it to. ${unknownFields}.` },
  ),
)

/** The audience of a campaign. */
export const BroadcastAudience = shape('BroadcastAudience', table({ listId, audience, topicId }))
