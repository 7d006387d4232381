import type { Rule } from '../../rules/index.js'
import { birthday } from './birthday.js'
import { chain, type Recipe, sends, shortMail } from './recipe.js'

/*
 * What most people begin with. Each is a whole automation that could be enabled as it stands, once its words are the
 * account's own.
 */

/** Whether somebody has clicked in a mail: a short mail has no pixel, so that nobody sees who opens it. */
const clicked = (key: string): Rule => ({
  all: [{ field: `email.${key}.clicked`, operator: 'eq', value: true }],
})

const welcomeMails = [
  shortMail('welcome-1', 'Welcome!', {
    says: 'Good to have you. Say here in two sentences what your mails are about, and how often they come.',
    button: 'Have a look around',
  }),
  shortMail('welcome-2', 'Three things to begin with', {
    says: 'Name the three things that most people like best, each with a link.',
    button: 'Begin with the first',
  }),
  shortMail('welcome-3', 'Did you know?', {
    says: 'One thing that people find late and then do not want to miss.',
  }),
  shortMail('welcome-4', 'Is there anything that we can do for you?', {
    says: 'Ask for an answer. Say who reads it.',
  }),
] as const

const welcome: Recipe = {
  name: 'welcome',
  title: 'Welcome series',
  about:
    'Four mails over twelve days for whoever joins a list; who has clicked in the first gets another second one.',
  mails: welcomeMails,
  isForList: true,
  definition({ from, listId }) {
    const [one, two, three, four] = welcomeMails
    return {
      steps: [
        {
          key: 'start',
          type: 'trigger',
          config: {
            eventName: '$list.joined',
            ...(listId !== undefined && {
              filter: { field: 'event.listId', operator: 'eq', value: listId },
            }),
            reentry: 'once',
          },
        },
        sends(one, from, 'Welcome'),
        { key: 'wait-1', type: 'delay', config: { duration: 'P3D' } },
        {
          key: 'clicked',
          type: 'condition',
          name: 'Have they clicked in the first?',
          config: clicked(one.slug),
        },
        sends(two, from, 'For those who have clicked'),
        sends(three, from, 'For those who have not'),
        { key: 'wait-2', type: 'delay', config: { duration: 'P9D' } },
        sends(four, from, 'A question'),
      ],
      connections: [
        ...chain('start', one.slug, 'wait-1', 'clicked'),
        { from: 'clicked', to: two.slug, type: 'condition_met' },
        { from: 'clicked', to: three.slug, type: 'condition_not_met' },
        { from: two.slug, to: 'wait-2', type: 'default' },
        { from: three.slug, to: 'wait-2', type: 'default' },
        { from: 'wait-2', to: four.slug, type: 'default' },
      ],
    }
  },
}

const basketMails = [
  shortMail('basket-1', 'You have left something in your basket', {
    says: 'What you chose is still there.',
    isWhole: true,
    button: 'Go on where you were',
  }),
  shortMail('basket-2', 'Shall we keep your basket?', {
    says: 'Say until when it is kept, and who answers questions.',
    button: 'To the basket',
  }),
] as const

const basket: Recipe = {
  name: 'basket',
  title: 'Abandoned basket',
  about:
    'Your shop sends the event cart.updated for a basket and order.paid for an order. Who has not paid after four hours gets a mail, and another a day later.',
  mails: basketMails,
  definition({ from }) {
    const [one, two] = basketMails
    const paid = { eventName: 'order.paid' }
    return {
      steps: [
        {
          key: 'start',
          type: 'trigger',
          config: { eventName: 'cart.updated', reentry: { after: 'P7D' } },
        },
        {
          key: 'paid-1',
          type: 'wait_for_event',
          name: 'Have they paid?',
          config: { ...paid, timeout: 'PT4H' },
        },
        sends(one, from, 'First reminder'),
        {
          key: 'paid-2',
          type: 'wait_for_event',
          name: 'Have they paid now?',
          config: { ...paid, timeout: 'P1D' },
        },
        sends(two, from, 'Second reminder'),
        { key: 'bought', type: 'exit', config: { reason: 'bought' } },
      ],
      connections: [
        { from: 'start', to: 'paid-1', type: 'default' },
        { from: 'paid-1', to: 'bought', type: 'event_received' },
        { from: 'paid-1', to: one.slug, type: 'timeout' },
        { from: one.slug, to: 'paid-2', type: 'default' },
        { from: 'paid-2', to: 'bought', type: 'event_received' },
        { from: 'paid-2', to: two.slug, type: 'timeout' },
      ],
    }
  },
}

const winBackMails = [
  shortMail('win-back-1', 'It has been a while', {
    says: 'Say what is new since they were here last.',
    button: 'See what is new',
  }),
  shortMail('win-back-2', 'Do you still want our mail?', {
    says: 'If not, the link below takes you off. If you do, one click is enough.',
    isWhole: true,
    button: 'Yes, keep me on',
  }),
] as const

const winBack: Recipe = {
  name: 'win-back',
  title: 'Win back who opens nothing',
  about:
    'A mail to whoever has opened nothing for 90 days, and a second one a week later if they do not click in that. Makes a segment of them; who is in it already can be started from its page.',
  mails: winBackMails,
  segment: {
    name: 'Opened nothing for 90 days',
    rule: {
      all: [
        { field: 'engagement.sent', operator: 'gte', value: 3 },
        { field: 'engagement.lastOpenedAt', operator: 'not_within', value: 'P90D' },
        { field: 'contact.createdAt', operator: 'not_within', value: 'P90D' },
      ],
    },
  },
  definition({ from, segmentId = '' }) {
    const [one, two] = winBackMails
    return {
      steps: [
        {
          key: 'start',
          type: 'trigger',
          config: {
            eventName: '$segment.joined',
            filter: { field: 'event.segmentId', operator: 'eq', value: segmentId },
            reentry: { after: 'P180D' },
          },
        },
        sends(one, from, 'What is new'),
        { key: 'wait', type: 'delay', config: { duration: 'P7D' } },
        {
          key: 'clicked',
          type: 'condition',
          name: 'Have they clicked in it?',
          config: clicked(one.slug),
        },
        { key: 'back', type: 'exit', config: { reason: 'back' } },
        sends(two, from, 'A last question'),
      ],
      connections: [
        ...chain('start', one.slug, 'wait', 'clicked'),
        { from: 'clicked', to: 'back', type: 'condition_met' },
        { from: 'clicked', to: two.slug, type: 'condition_not_met' },
      ],
    }
  },
}

const reviewMails = [
  shortMail('review-1', 'How was it?', {
    says: 'Ask for one sentence, and say who reads it.',
    button: 'Write a review',
  }),
] as const

const review: Recipe = {
  name: 'review',
  title: 'Ask for a review',
  about:
    'Your shop sends the event order.delivered. A week later, at ten in the morning, the buyer is asked.',
  mails: reviewMails,
  definition({ from }) {
    const [one] = reviewMails
    return {
      steps: [
        {
          key: 'start',
          type: 'trigger',
          config: { eventName: 'order.delivered', reentry: { after: 'P30D' } },
        },
        { key: 'wait', type: 'delay', config: { duration: 'P7D' } },
        { key: 'morning', type: 'delay', config: { until: { time: '10:00' } } },
        sends(one, from, 'The question'),
      ],
      connections: chain('start', 'wait', 'morning', one.slug),
    }
  },
}

const empty: Recipe = {
  name: 'empty',
  title: 'Empty',
  about: 'A beginning and an end; you put in what is between.',
  mails: [],
  isForList: true,
  definition: ({ listId }) => ({
    steps: [
      {
        key: 'start',
        type: 'trigger',
        config: {
          eventName: '$list.joined',
          ...(listId !== undefined && {
            filter: { field: 'event.listId', operator: 'eq', value: listId },
          }),
        },
      },
      { key: 'end', type: 'exit', config: {} },
    ],
    connections: chain('start', 'end'),
  }),
}

/** In the order in which they are offered. */
export const recipes: readonly Recipe[] = [welcome, birthday, basket, winBack, review, empty]
