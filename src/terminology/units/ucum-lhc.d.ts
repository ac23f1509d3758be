/** The part of @lhncbc/ucum-lhc that is used; the package brings no types. */
declare module '@lhncbc/ucum-lhc' {
  interface Validation {
    status: 'valid' | 'invalid' | 'error';
    /** The code as it should be written, where it is valid. */
    ucumCode?: string | null;
  }
  interface Conversion {
    status: 'succeeded' | 'failed' | 'error';
    /** Where it succeeded. */
    toVal: number | null;
  }
  const ucum: {
    UcumLhcUtils: {
      getInstance(): {
        validateUnitString(unit: string): Validation;
        convertUnitTo(from: string, value: number, to: string): Conversion;
      };
    };
  };
  export default ucum;
}
