/** Some of the facilities of the person. Nothing to choose where there is only one. */
import { Checkbox, Stack } from '@mantine/core';
import { useTranslations } from 'use-intl';
import { useSession } from './session-context.tsx';

interface FacilityChoiceProperties {
  label: string;
  description: string;
  chosen: readonly string[];
  onChange: (chosen: string[]) => void;
}

export function FacilityChoice({ label, description, chosen, onChange }: FacilityChoiceProperties) {
  const t = useTranslations('blocks');
  const { facilities } = useSession().session;
  if (facilities.length < 2) return undefined;
  return (
    <Checkbox.Group
      label={label}
      description={description}
      error={chosen.length === 0 ? t('chooseFacility') : undefined}
      value={[...chosen]}
      onChange={onChange}
    >
      <Stack gap="xs" mt="xs">
        {facilities.map(({ id, name }) => (
          <Checkbox key={id} size="xs" value={id} label={name} />
        ))}
      </Stack>
    </Checkbox.Group>
  );
}
