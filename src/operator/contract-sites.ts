import {
  answer,
  deletedFields,
  invalidField,
  manyOf,
  type Operation,
  operation,
  shape,
} from '../contract/index.js'
import { classNames } from '../deliveries/index.js'
import {
  count,
  line,
  maybe,
  oneOf,
  orNull,
  table,
  text,
  textThat,
  time,
  uuid,
  uuidGiven,
  whole,
} from '../fields/index.js'

const known = {
  id: count('The number of the order'),
  order: {
    type: 'string',
    enum: ['hold', 'pool'],
    description: 'Mail waits, or leaves from a pool',
  },
  site: text("A site, such as `google`, or a recipients' domain"),
  pool: orNull(text('The pool that mail leaves from; null: it waits')),
  accountId: orNull(uuid('Whose mail alone is meant; null: all')),
  class: orNull({ type: 'string', enum: classNames, description: 'Which mail alone; null: all' }),
  why: text('Why'),
  by: text('Who ordered it'),
  givenAt: time('When it was ordered'),
  until: time('When it ends by itself'),
}
const example = {
  id: 4_711,
  order: 'hold',
  site: 'example.org',
  pool: null,
  accountId: null,
  class: null,
  why: 'their postmaster asked for it',
  by: "the operator's key Monitoring (…x7Qa)",
  givenAt: '2026-11-21T10:00:00.000Z',
  until: '2026-11-21T12:00:00.000Z',
}

export const listSiteOrders = operation('GET /v1/operator/site-orders', {
  id: 'listSiteOrders',
  may: 'operator',
  says: () => ({
    summary: 'What is ordered for sites and domains',
    answers: [
      answer(
        'What is in force, the first to end first',
        'SiteOrders',
        { orders: manyOf('SiteOrder') },
        { orders: [example] },
      ),
    ],
  }),
})

export const orderSite = operation('POST /v1/operator/site-orders', {
  id: 'orderSite',
  may: 'operator',
  audit: 'site.hold',
  body: shape(
    'NewSiteOrder',
    table(
      {
        site: line(1, 300, "A site, such as `google`, or a recipients' domain"),
        seconds: whole('For how long, up to 30 days', { least: 60, most: 2_592_000 }),
        why: line(1, 200, 'Why; senders of waiting mail may see it'),
        pool: maybe(line(1, 100, 'The pool that mail leaves from'), 'it waits'),
        accountId: maybe(uuidGiven('Whose mail alone is meant; only with `pool`'), 'all'),
        class: maybe(oneOf(classNames, 'Which mail alone is meant; only with `pool`'), 'all'),
      },
      { noOthers: true },
    ),
  ),
  says: () => ({
    summary: 'Hold mail to a site or a domain, or let it leave from another pool',
    description:
      'What comes meanwhile too; what is under way still ends. One of the same kind for the same mail is replaced.',
    examples: {
      'It waits': { site: 'example.org', seconds: 7_200, why: 'their postmaster asked for it' },
      'From another pool': {
        site: 'microsoft',
        pool: 'default',
        seconds: 86_400,
        why: 'our first address is blocked there',
      },
    },
    answers: [answer('It is ordered', 'SiteOrder', known, example, 201)],
    refusals: [
      invalidField(
        'It is no site',
        '"exa mple" is no site: expected a recipients\' domain such as example.org, or a provider of shaping.toml (google, …)',
        'site',
      ),
      invalidField('There is no such pool', 'The settings have no such pool', 'pool'),
    ],
  }),
})

export const endSiteOrder = operation('DELETE /v1/operator/site-orders/:id', {
  id: 'endSiteOrder',
  may: 'operator',
  audit: 'site.release',
  of: {
    params: {
      id: textThat(
        'a number',
        (given) => /^\d{1,15}$/.test(given),
        text('The number of the order'),
      ),
    },
    about: { id: text('The number of the order') },
    notFound: 'There is no such order in force',
    when: 'No such order is in force',
  },
  says: () => ({
    summary: 'End an order before its time',
    answers: [
      answer(
        'It is over',
        'SiteOrderEnded',
        { ...deletedFields, id: count('The number of the order') },
        { id: 4_711, deleted: true, message: 'Mail to example.org leaves as the settings say' },
      ),
    ],
  }),
})

/** What holds or moves mail to sites. */
export const siteOperations: readonly Operation[] = [listSiteOrders, orderSite, endSiteOrder]
