/** A new mapping: of a code that waits for one, or of one that is typed. */
import { Modal, NativeSelect, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { type SubmitEvent, useState } from 'react';
import { useTranslations } from 'use-intl';
import { asChange } from '../../../app/queries.ts';
import { useTyped } from '../../../app/unsaved-forms.ts';
import { FormButtons } from '../../../blocks/dialogs/form-buttons.tsx';
import { ServerFormFields } from '../../../blocks/page/server-form-fields.tsx';
import {
  type Draft,
  EMPTY_DRAFT,
  type Level,
  LOINC,
  PARTICIPATION_TYPE,
  SYSTEMS,
  saveMapping,
} from '../draft.ts';
import { useFacilityOf, useFirstLevel, useLevels } from '../level.ts';
import { useMapCheck } from './map-check.ts';
import { ResultExample, useResultExample } from './result-example.tsx';
import { Suggestions } from './suggestions.tsx';
import { RelationFields, TargetFields } from './target-fields.tsx';
import { type UnmappedCode, WaitingCode } from './waiting-code.tsx';

interface MapDialogProperties {
  opened: boolean;
  /** The code that waits; without it, all is typed. */
  waiting?: UnmappedCode;
  onSaved: (draft: Draft) => void;
  onClose: () => void;
}

export function MapDialog({ opened, waiting, onSaved, onClose }: MapDialogProperties) {
  const t = useTranslations('mapEditor');
  const title = waiting === undefined ? t('addTitle') : t('mapTitle', { code: waiting.localCode });
  return (
    <Modal opened={opened} onClose={onClose} title={title} size="lg">
      <MapForm key={waiting?.localCode} waiting={waiting} onSaved={onSaved} onClose={onClose} />
    </Modal>
  );
}

function MapForm({ waiting, onSaved, onClose }: Omit<MapDialogProperties, 'opened'>) {
  const t = useTranslations('mapEditor');
  const facilityOf = useFacilityOf();
  const [level, setLevel] = useState<Level>(useFirstLevel());
  const [first] = useState<Draft>({ ...EMPTY_DRAFT, ...localPart(waiting) });
  const [draft, setDraft] = useState(first);
  useTyped(draft !== first);
  const check = useMapCheck(draft, level);
  const example = useResultExample(waiting);
  const change = (part: Partial<Draft>) => setDraft((old) => ({ ...old, ...part }));

  const save = useMutation({
    mutationFn: (chosen: Draft) => asChange(saveMapping(chosen, facilityOf(level))),
    onSuccess: (_, chosen) => onSaved(chosen),
  });
  function onSubmit(event: SubmitEvent<HTMLFormElement>) {
    event.preventDefault();
    save.mutate(draft);
  }
  return (
    <ServerFormFields form={{ onSubmit, error: save.error }} gap="sm">
      {waiting === undefined ? (
        <LocalFields draft={draft} onChange={change} />
      ) : (
        <>
          <WaitingCode waiting={waiting} />
          <Suggestions
            waiting={waiting}
            unit={example.result?.valueQuantity?.unit}
            isSaving={save.isPending}
            onUse={(suggested) => save.mutate({ ...draft, ...suggested })}
          />
        </>
      )}
      <SystemField draft={draft} onChange={change} />
      <TargetFields draft={draft} onChange={change} check={check} focus={waiting !== undefined} />
      <RelationFields draft={draft} onChange={change} />
      {waiting === undefined ? undefined : (
        <ResultExample waiting={waiting} draft={draft} example={example} />
      )}
      <NativeSelect
        label={t('level')}
        description={t('levelHelp')}
        value={level}
        data={useLevels()}
        onChange={(event) => setLevel(event.currentTarget.value as Level)}
      />
      <FormButtons action={t('save')} isSending={save.isPending} onCancel={onClose} />
    </ServerFormFields>
  );
}

function localPart(waiting: UnmappedCode | undefined): Partial<Draft> {
  if (waiting === undefined) return {};
  const { localSystem, localCode, localDisplay, places } = waiting;
  const isParticipation = places.every(({ place }) => place === 'encounter.participation');
  const targetSystem = isParticipation ? PARTICIPATION_TYPE : LOINC;
  return { localSystem, localCode, localDisplay: localDisplay ?? '', targetSystem };
}

interface PartProperties {
  draft: Draft;
  onChange: (change: Partial<Draft>) => void;
}

function LocalFields({ draft, onChange }: PartProperties) {
  const t = useTranslations('mapEditor');
  return (
    <>
      <TextInput
        label={t('localCode')}
        required
        data-autofocus
        value={draft.localCode}
        onChange={(event) => onChange({ localCode: event.currentTarget.value })}
      />
      <TextInput
        label={t('localDisplay')}
        value={draft.localDisplay}
        onChange={(event) => onChange({ localDisplay: event.currentTarget.value })}
      />
      <TextInput
        label={t('localSystem')}
        description={t('localSystemHelp')}
        value={draft.localSystem}
        onChange={(event) => onChange({ localSystem: event.currentTarget.value })}
      />
    </>
  );
}

function SystemField({ draft, onChange }: PartProperties) {
  const t = useTranslations('mapEditor');
  const [isOther, setOther] = useState(false);
  return (
    <>
      <NativeSelect
        label={t('targetSystem')}
        value={isOther ? '' : draft.targetSystem}
        data={[...SYSTEMS, { value: '', label: t('otherSystem') }]}
        onChange={(event) => {
          setOther(event.currentTarget.value === '');
          onChange({ targetSystem: event.currentTarget.value });
        }}
      />
      {isOther ? (
        <TextInput
          label={t('otherSystemAddress')}
          required
          value={draft.targetSystem}
          onChange={(event) => onChange({ targetSystem: event.currentTarget.value })}
        />
      ) : undefined}
    </>
  );
}
