import type { Strings } from './strings.js'

const unaffected = 'Les e-mails concernant vos propres commandes ou votre compte ne changent pas.'
const underWay = 'Un e-mail déjà en route peut encore arriver.'

export const french: Strings = {
  language: 'fr',
  footerReason: (account, topic) =>
    topic === undefined
      ? `Vous recevez cet e-mail de ${account}.`
      : `Vous recevez cet e-mail de ${account} sur le thème « ${topic} ».`,
  footerChoose: 'Choisir ce que vous recevez',
  footerLeave: 'Se désabonner',
  someTopic: 'ce thème',
  ask: {
    title: 'Se désabonner ?',
    lines: ({ account, address, topic }) => [
      topic === undefined
        ? `${account} n’enverra plus d’e-mails marketing à ${address}.`
        : `${account} n’enverra plus d’e-mails sur le thème « ${topic} » à ${address}.`,
      unaffected,
    ],
    button: 'Se désabonner',
  },
  done: {
    title: 'Vous êtes désabonné(e)',
    lines: ({ account, address, topic }) => [
      topic === undefined
        ? `${address} ne reçoit plus d’e-mails marketing de ${account}.`
        : `${address} ne reçoit plus d’e-mails de ${account} sur le thème « ${topic} ».`,
      underWay,
    ],
    button: 'Annuler : se réabonner',
  },
  back: {
    title: 'Vous êtes de nouveau abonné(e)',
    lines: ({ account, address, topic }) => [
      topic === undefined
        ? `${address} reçoit de nouveau les e-mails marketing de ${account}.`
        : `${address} reçoit de nouveau les e-mails de ${account} sur le thème « ${topic} ».`,
    ],
    button: 'Se désabonner',
  },
  reason: {
    legend: 'Nous diriez-vous pourquoi ? Ce n’est pas obligatoire.',
    choices: {
      too_many: 'J’en reçois trop',
      not_wanted: 'Je n’en veux plus',
      never_asked: 'Je ne les ai jamais demandés',
      other: 'Autre chose',
    },
    words: 'Avec vos propres mots',
    button: 'Envoyer',
    thanks: 'Merci.',
  },
  toCentre: 'Choisir par thème ce que vous recevez',
  centre: {
    title: ({ account }) => `Ce que vous recevez de ${account}`,
    intro: {
      subscribed: ({ account, address }) =>
        `Cette page concerne les e-mails marketing que ${account} envoie à ${address}.`,
      left: ({ account, address }) =>
        `${account} n’envoie aucun e-mail marketing à ${address} : vous êtes désabonné(e) de tout.`,
    },
    unaffected,
    unreachable: ({ account, address }) =>
      `En ce moment, les e-mails de ${account} ne peuvent pas atteindre ${address}, et cette page n’y peut rien. Vos choix sont conservés. Si leurs e-mails vous manquent, écrivez-leur.`,
    legend: 'Cochez ce que vous souhaitez recevoir',
    save: 'Enregistrer mes choix',
    parts: {
      line: 'Il y a d’autres thèmes. Enregistrez vos choix ici avant de continuer.',
      earlier: 'Thèmes précédents',
      more: 'Thèmes suivants',
    },
    fields: {
      title: ({ account }) => `Ce que ${account} sait de vous`,
      line: 'Vous pouvez le modifier ici, ou le laisser vide.',
      none: '– aucun –',
      save: 'Enregistrer mes modifications',
      saved: 'Vos modifications sont enregistrées.',
      notSaved: 'Rien n’est encore enregistré : veuillez regarder ce qui est signalé.',
      wrong: {
        text: 'Veuillez écrire 300 caractères au plus, sur une ligne.',
        number: 'Veuillez écrire un nombre, par exemple 12 ou 3,5.',
        date: 'Veuillez écrire une date, par exemple 2026-11-29.',
        choice: 'Veuillez choisir une de ces possibilités.',
      },
    },
    leave: {
      title: 'Plus rien du tout ?',
      line: ({ account }) =>
        `Plus aucun e-mail marketing de ${account}, pas même sur de nouveaux thèmes.`,
      button: 'Se désabonner de tout',
    },
    comeBack: {
      title: 'Vous avez changé d’avis ?',
      line: ({ account }) =>
        `Recevez de nouveau les mêmes e-mails marketing de ${account} qu’auparavant.`,
      button: 'Se réabonner',
    },
    status: {
      saved: 'Vos choix sont enregistrés.',
      savedNone:
        'Vos choix sont enregistrés : aucun de ces thèmes. Des e-mails sur autre chose peuvent encore arriver ; ci-dessous, vous pouvez tout quitter.',
      stillLeft: 'Rien n’était coché, donc rien n’a changé.',
      left: `Vous êtes désabonné(e) de tout. ${underWay}`,
      back: 'Vous êtes de nouveau abonné(e).',
    },
  },
  erased: {
    title: 'Vos données ont été effacées',
    lines: ({ account, address }) => [
      `${account} a effacé ce qui était connu de ${address} et n’y envoie plus d’e-mails marketing.`,
      `Rien n’a été modifié ni enregistré ici. Si vous souhaitez de nouveau des e-mails de ${account}, inscrivez-vous par l’un de ses formulaires.`,
    ],
  },
  shown: {
    title: 'Ce lien n’est qu’un exemple',
    lines: [
      'Il se trouve dans la copie d’un e-mail qui n’est pas celle de son destinataire.',
      'Dans l’e-mail lui-même, il mène à la page de désabonnement.',
    ],
  },
  unknown: {
    title: 'Ce lien ne fonctionne pas',
    lines: [
      'Il a peut-être été coupé : ouvrez-le de nouveau depuis l’e-mail, ou copiez-le en entier.',
      'Vous pouvez aussi répondre à l’e-mail et demander à ne plus en recevoir.',
    ],
  },
}
