// Made by special_polynomials.py: coefficients, the constant first.
#ifndef CALQUE_CODEGEN_NATIVE_SPECIALPOLYNOMIALS_H
#define CALQUE_CODEGEN_NATIVE_SPECIALPOLYNOMIALS_H

// clang-format off
namespace calque::codegen::polynomials {

// (x + 1/2) exp(x^2) erfc(x) of q = (x - 4) / (x + 4) for x >= 0.
inline constexpr double kErfcx[] = {
    0x1.3ba5916978b3cp-1,
    -0x1.1df1ad06aa653p-4,
    0x1.f7f6dc02c4ca5p-8,
    0x1.16ece498e3034p-5,
    -0x1.9ddd1e2d451b0p-5,
    0x1.7feeb526ca3b8p-5,
    -0x1.0fa48150d308ep-5,
    0x1.307151650d6fdp-6,
    -0x1.09eb9b2071893p-7,
    0x1.4a90cfbe277cap-9,
    -0x1.73be946f4bb19p-12,
    -0x1.c8e00ab7209ccp-14,
    0x1.dee71c438d778p-15,
    -0x1.3baa6d905aa49p-18};

// The same in float64.
inline constexpr double kErfcx64[] = {
    0x1.3ba5916e9fd7fp-1,
    -0x1.1df1ad154a286p-4,
    0x1.f7f5df66fd797p-8,
    0x1.16ecefcfa4d10p-5,
    -0x1.9ddb23c3e8f13p-5,
    0x1.7fee004e1eefep-5,
    -0x1.0fb06dfe4c6c0p-5,
    0x1.3079edf5181dfp-6,
    -0x1.09623884747dbp-7,
    0x1.49c672e199469p-9,
    -0x1.8d4a9a6465372p-12,
    -0x1.a1df5e81f57b4p-14,
    0x1.3be0432bfa860p-14,
    -0x1.99537515467bep-17,
    -0x1.7884d2487d5efp-18,
    0x1.7ef644c7815aap-19,
    0x1.393f4d359a7fdp-23,
    -0x1.b8ce493292da5p-22,
    0x1.4dcd6b6d85452p-25,
    0x1.c8a212189b424p-25,
    -0x1.64110b1736fb3p-27,
    -0x1.a7f4a11380e73p-28,
    0x1.bc41def3d5cc5p-30,
    0x1.ff247156a53a2p-32,
    -0x1.2feb115e10ff8p-33};

// I0(x) of z = x^2 / 4 for x <= 8.
inline constexpr double kBesselNear0[] = {
    0x1.000000000671cp+0,
    0x1.fffffffeefc8dp-1,
    0x1.000000076f576p-2,
    0x1.c71c7123e326bp-6,
    0x1.c71c790a8b92cp-10,
    0x1.2345365ed7919p-14,
    0x1.02ea06747420cp-19,
    0x1.5216f4b9d7d37p-25,
    0x1.52c2e759c7227p-31,
    0x1.07f989bbe74f1p-37,
    0x1.6d39d7902e99bp-44,
    0x1.ff5f71023dde2p-52,
    0x1.2772a5231d6f6p-57};

// The same in float64.
inline constexpr double kBesselNear064[] = {
    0x1.0000000000000p+0,
    0x1.0000000000000p+0,
    0x1.0000000000000p-2,
    0x1.c71c71c71c71cp-6,
    0x1.c71c71c71c71cp-10,
    0x1.23456789abcdfp-14,
    0x1.02e85c0898b6fp-19,
    0x1.522a43f6548b2p-25,
    0x1.522a43f6541c6p-31,
    0x1.0b313289c5526p-37,
    0x1.5601885da0e63p-44,
    0x1.69ca9d037f8b6p-51,
    0x1.4197a6f6d6eb9p-58,
    0x1.e72572382e283p-66,
    0x1.3e21e507c165dp-73,
    0x1.6a05eb7d5abc9p-81,
    0x1.695af5654284ap-89,
    0x1.45942923d7987p-97,
    0x1.c4a39576f59d1p-106,
    0x1.0b7cab2f34743p-113};

// sqrt(x) exp(-x) I0(x) of t = 16 / x - 1 for x >= 8.
inline constexpr double kBesselFar0[] = {
    0x1.9bd428ad249a5p-2,
    0x1.b8796bd2e8153p-9,
    0x1.1daa985443708p-13,
    0x1.75cb37f31d60bp-17,
    0x1.8d544aec3b619p-20,
    0x1.49c5ed2f4c17fp-22,
    0x1.b7129c83cf66dp-24,
    0x1.10994e1ed13f6p-25,
    0x1.b9a6ad71ae9dcp-29};

// The same in float64.
inline constexpr double kBesselFar064[] = {
    0x1.9bd428ad249a5p-2,
    0x1.b87969bb93b75p-9,
    0x1.1daa72b5e650cp-13,
    0x1.75e5ee71edd14p-17,
    0x1.8e513a1d5e52bp-20,
    0x1.3f49a6bcfc2d9p-22,
    0x1.7d0f75812d9bcp-24,
    0x1.51ced7b713adcp-25,
    0x1.7224b1828e508p-26,
    0x1.03896efb09a3ap-27,
    -0x1.ce768f00b5382p-28,
    -0x1.cc90f59ec1207p-27,
    -0x1.77cc956faaa09p-28,
    0x1.0317d4c7b2100p-27,
    0x1.047454ffcb5e9p-27,
    -0x1.df1549cddf870p-29,
    -0x1.a9411c5b0acd4p-28,
    0x1.9bbbfe31d7c00p-30,
    0x1.0ab5ef575d27cp-28,
    -0x1.31c908a5dcc8bp-31,
    -0x1.e8fd992032c4bp-30,
    0x1.42a55974d334fp-33,
    0x1.1ce14787c5c7dp-31,
    -0x1.52109c25bc515p-36,
    -0x1.36e52c100341ep-34};

// I1(x) / (x / 2) of z = x^2 / 4 for x <= 8.
inline constexpr double kBesselNear1[] = {
    0x1.000000000071ep+0,
    0x1.ffffffffda6cdp-2,
    0x1.5555555762d1dp-4,
    0x1.c71c719a0a9dap-8,
    0x1.6c16c36d9ea2cp-12,
    0x1.845c6ee29cf36p-17,
    0x1.27e5e7280a821p-22,
    0x1.521f9655fef46p-28,
    0x1.2cebd15e18924p-34,
    0x1.a7f153e8d0e06p-41,
    0x1.059d9ed42fab6p-47,
    0x1.6c51b5facbe09p-55,
    0x1.5c96622601ebdp-61};

// The same in float64.
inline constexpr double kBesselNear164[] = {
    0x1.0000000000000p+0,
    0x1.0000000000000p-1,
    0x1.5555555555555p-4,
    0x1.c71c71c71c71cp-8,
    0x1.6c16c16c16c17p-12,
    0x1.845c8a0ce5129p-17,
    0x1.27e4fb7789f5cp-22,
    0x1.522a43f654885p-28,
    0x1.2c9758daf5a52p-34,
    0x1.ab81ea7602543p-41,
    0x1.f17697ce8ab36p-48,
    0x1.e2637bfb75e01p-55,
    0x1.8bce57d15f751p-62,
    0x1.165e8585a7e91p-69,
    0x1.5357a7355d8c6p-77,
    0x1.6a026a3930712p-85,
    0x1.54372d1e9828ep-93,
    0x1.20b9ceb2abb47p-101,
    0x1.81fefdd800941p-110,
    0x1.a40be3980aa9dp-118};

// sqrt(x) exp(-x) I1(x) of t = 16 / x - 1 for x >= 8.
inline constexpr double kBesselFar1[] = {
    0x1.8ebe783a84030p-2,
    -0x1.3f79622136f8cp-7,
    -0x1.cbc575bdc3d3fp-13,
    -0x1.f8810510370c3p-17,
    -0x1.eb82d24626b70p-20,
    -0x1.809bfdfe04a72p-22,
    -0x1.eaa3161ebf95ep-24,
    -0x1.346b2279a1d19p-25,
    -0x1.23284b6238890p-28};

// The same in float64.
inline constexpr double kBesselFar164[] = {
    0x1.8ebe783a84030p-2,
    -0x1.3f796198ee628p-7,
    -0x1.cbc54df1ece76p-13,
    -0x1.f89c23066d278p-17,
    -0x1.ec8e101744487p-20,
    -0x1.76137e6905189p-22,
    -0x1.ad8db6e1fecbbp-24,
    -0x1.727a73a8063a8p-25,
    -0x1.9180f82a1d42ap-26,
    -0x1.21895bb7ba337p-27,
    0x1.cd81846fb3ffcp-28,
    0x1.e20e7d69649a7p-27,
    0x1.9f203cf27839dp-28,
    -0x1.0630cddd4e037p-27,
    -0x1.1465ce7d29628p-27,
    0x1.d4345a69bf96dp-29,
    0x1.bdc8daed57db7p-28,
    -0x1.858c759100e4ap-30,
    -0x1.162964d5f920ap-28,
    0x1.1aee882805813p-31,
    0x1.fce6b32270c4dp-30,
    -0x1.272ae0510f3adp-33,
    -0x1.2839623e23539p-31,
    0x1.33e83e12c8cf5p-36,
    0x1.432b0a412136bp-34};

// lgamma(x) / ((x - 1) (x - 2)) of x - 1 for 1/2 <= x <= 3/2.
inline constexpr double kGammaNear1[] = {
    0x1.2788cfc6ac9e9p-1,
    -0x1.f6465977a8c2ap-3,
    0x1.3e5454797bf05p-3,
    -0x1.d7a3eb557fe78p-4,
    0x1.79ce0341ae4acp-4,
    -0x1.3cb074c454affp-4,
    0x1.118786e41bf0ap-4,
    -0x1.e1e1d66a09ea3p-5,
    0x1.a88d400cf58d6p-5,
    -0x1.7fc70c2e34517p-5,
    0x1.9457432680924p-5,
    -0x1.7587ffe7a19e6p-5,
    0x1.6cc1487f440edp-7,
    -0x1.4361eccc28c4cp-7,
    0x1.5f23f50727153p-4,
    -0x1.4c1a9e8f980fbp-4};

// The same in float64.
inline constexpr double kGammaNear164[] = {
    0x1.2788cfc6fb619p-1,
    -0x1.f6465978d46e9p-3,
    0x1.3e54520481eb9p-3,
    -0x1.d7a3e6a8f237ep-4,
    0x1.79cf9c4c5bc33p-4,
    -0x1.3cb1f9d3c037bp-4,
    0x1.115549e53fd63p-4,
    -0x1.e18246f04c360p-5,
    0x1.ae8a9a4f46dbfp-5,
    -0x1.85792d869f1c7p-5,
    0x1.639f2a44dac3ap-5,
    -0x1.473665113a550p-5,
    0x1.2f061b2fc48c0p-5,
    -0x1.1a2a5ad9fa555p-5,
    0x1.07e6ec77dc453p-5,
    -0x1.efdd82e409fbcp-6,
    0x1.d5bfc1be1888fp-6,
    -0x1.bc7287b8d597dp-6,
    0x1.93636831c23afp-6,
    -0x1.7f62ac05cbf20p-6,
    0x1.dc7c76f4305c6p-6,
    -0x1.c8f14b7d12af4p-6,
    -0x1.543ca8aebbbb0p-9,
    0x1.6f839ec1faa3fp-9,
    0x1.5eab9ef51f403p-4,
    -0x1.54249b56f45f6p-4,
    -0x1.89465ddfefffap-4,
    0x1.7ed3431b31052p-4,
    0x1.e49708ec164b6p-4,
    -0x1.d690a1f0c57e5p-4};

// The same of x - 2 for 3/2 <= x <= 5/2.
inline constexpr double kGammaNear2[] = {
    0x1.b0ee607204228p-2,
    -0x1.9ae6509e97797p-4,
    0x1.0e0c9e2077c3fp-5,
    -0x1.95ce2290a02e3p-7,
    0x1.479705aa56e71p-8,
    -0x1.1450e381d2a40p-9,
    0x1.e00f12aa0bb27p-11,
    -0x1.a98b4ac0db53fp-12,
    0x1.7aa8088d3fb93p-13,
    -0x1.589b1e2c1aefep-14,
    0x1.79bb6462d4111p-15,
    -0x1.5e379649418b6p-16};

// The same in float64.
inline constexpr double kGammaNear264[] = {
    0x1.b0ee6072093cep-2,
    -0x1.9ae6509ea109fp-4,
    0x1.0e0c9df293531p-5,
    -0x1.95ce223a9cbbfp-7,
    0x1.47974853aa213p-8,
    -0x1.145121f99d76bp-9,
    0x1.dfebcf8e73a62p-11,
    -0x1.a96a401085607p-12,
    0x1.7ed733b27982dp-13,
    -0x1.5c86b66b049c9p-14,
    0x1.402f0e9261f12p-15,
    -0x1.285050b1644ccp-16,
    0x1.13e47cbb198e8p-17,
    -0x1.0230e4acc4e14p-18,
    0x1.e542e8fed7e72p-20,
    -0x1.c9d6594c39e14p-21,
    0x1.b35874d2fec76p-22,
    -0x1.9d57d11b7854ep-23,
    0x1.7241ec4833825p-24,
    -0x1.611c422be0cf7p-25,
    0x1.edf193c4af311p-26,
    -0x1.d9be2c366d430p-27};

// x (lgamma(x) - (x - 1/2) log(x) + x - log(2 pi) / 2) of u = 1 / x^2 for x >= 8.
inline constexpr double kStirling[] = {
    0x1.555555554ee56p-4,
    -0x1.6c16bafa5ee47p-9,
    0x1.9ff998f9c7277p-11,
    -0x1.2aebd64373516p-11};

// The same in float64.
inline constexpr double kStirling64[] = {
    0x1.5555555555555p-4,
    -0x1.6c16c16c16b29p-9,
    0x1.a01a019ee0dbcp-11,
    -0x1.38137ec06ff8ep-11,
    0x1.b94f6d658153cp-11,
    -0x1.f5ff2fda221f6p-10,
    0x1.96db404425ca5p-8,
    -0x1.55b3a69f41fdbp-6};

// x^2 (digamma(x) - log(x) + 1 / (2 x)) of u = 1 / x^2 for x >= 8.
inline constexpr double kDigamma[] = {
    -0x1.555555551c412p-4,
    0x1.111102c7383bdp-7,
    -0x1.03ec477287b6ep-8,
    0x1.026adce101840p-8};

// The same in float64.
inline constexpr double kDigamma64[] = {
    -0x1.5555555555555p-4,
    0x1.1111111110d4fp-7,
    -0x1.0410410195bbcp-8,
    0x1.11110c0ff84bfp-8,
    -0x1.f077209c10886p-8,
    0x1.58e68c8696deep-6,
    -0x1.47c696f36fd00p-4,
    0x1.329c8ffc645d0p-2};

// x^3 (sum of (x + k)^-2 - x^-1 / 1 - x^-2 / 2) of u = 1 / x^2 for x >= 8.
inline constexpr double kPolygamma1[] = {
    0x1.5555555551ea7p-3,
    -0x1.11111065f37eap-5,
    0x1.8615b02471815p-6,
    -0x1.101bec240bcabp-5,
    0x1.1203c72f4a34cp-4};

// The same in float64.
inline constexpr double kPolygamma164[] = {
    0x1.5555555555555p-3,
    -0x1.111111111106ep-5,
    0x1.861861858f9aap-6,
    -0x1.1111105fd5c04p-5,
    0x1.364d1fa74525ap-4,
    -0x1.031ac6a8eddd6p-2,
    0x1.284d06ecbd446p+0,
    -0x1.9db3cdc3dfa0bp+2,
    0x1.e298e0eb7e73dp+4};

// x^4 (sum of (x + k)^-3 - x^-2 / 2 - x^-3 / 2) of u = 1 / x^2 for x >= 8.
inline constexpr double kPolygamma2[] = {
    0x1.ffffffffea557p-3,
    -0x1.55555336d38b0p-4,
    0x1.55510f58fa15ap-4,
    -0x1.31ad404d921e8p-3,
    0x1.70a27a14a45adp-2};

// The same in float64.
inline constexpr double kPolygamma264[] = {
    0x1.0000000000000p-2,
    -0x1.5555555555230p-4,
    0x1.5555555403e17p-4,
    -0x1.3333317d8e25bp-3,
    0x1.aaa98c742cc33p-2,
    -0x1.a4f939b301f17p+0,
    0x1.150ea0b7038cbp+3,
    -0x1.afeea1aaa90b5p+5,
    0x1.0e4fab56bacadp+8};

// x^5 (sum of (x + k)^-4 - x^-3 / 3 - x^-4 / 2) of u = 1 / x^2 for x >= 8.
inline constexpr double kPolygamma3[] = {
    0x1.55555555241a0p-2,
    -0x1.5555508455fbap-3,
    0x1.c712b88b7ee82p-3,
    -0x1.fc86769df22c3p-2,
    0x1.68196a323432ap+0};

// The same in float64.
inline constexpr double kPolygamma364[] = {
    0x1.5555555555555p-2,
    -0x1.5555555554a84p-3,
    0x1.c71c71c293d32p-3,
    -0x1.fffffa1d693f5p-2,
    0x1.aaa8bd496be8bp+0,
    -0x1.eb04f5e3cc87dp+2,
    0x1.703a72448a077p+5,
    -0x1.3dbcb8655ceebp+8,
    0x1.a815694541040p+10};

} // namespace calque::codegen::polynomials
#endif
