"""Small configurations of each family of models that transformers has TensorFlow classes of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

SMALL: Mapping[str, Any] = {
    **dict.fromkeys(["hidden_size", "d_model", "n_embd", "emb_dim", "dim", "d_embed", "embedding_size"], 32),
    **dict.fromkeys(["num_hidden_layers", "num_layers", "n_layer", "n_layers", "encoder_layers", "decoder_layers"], 2),
    **dict.fromkeys(["num_attention_heads", "n_head", "n_heads", "num_heads", "attention_heads"], 4),
    **dict.fromkeys(["encoder_attention_heads", "decoder_attention_heads"], 4),
    **dict.fromkeys(["intermediate_size", "d_ff", "ffn_dim", "encoder_ffn_dim", "decoder_ffn_dim", "dff"], 48),
    **dict.fromkeys(["hidden_dim", "d_inner"], 48),
    **dict.fromkeys(["max_position_embeddings", "n_positions"], 64),
    "vocab_size": 120,
    "image_size": 32,
    "patch_size": 8,
    "num_labels": 3,
}
"""What a configuration has of these, it is made with, unless its family says otherwise."""


@dataclass(frozen=True)
class Family:
    """What is made of a family.

    Attributes:
        config: The name of the class of configurations; those of models begin with it, after ``TF``.
        options: Arguments of the configuration, on top of ``SMALL``.
        heads: What follows the family's name in the names of the classes.
        parts: The configurations that it is composed of, by the argument that takes each: dictionaries.
        length: The length of sequences.
        side: Height and width of images.
    """

    config: str
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    heads: tuple[str, ...] = ("Model",)
    parts: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])
    length: int = 12
    side: int = 32


_MASKED = ("Model", "ForMaskedLM", "ForSequenceClassification", "ForTokenClassification", "ForQuestionAnswering")
_CAUSAL = ("Model", "LMHeadModel", "ForSequenceClassification")
_SEQ2SEQ = ("Model", "ForConditionalGeneration")
_IMAGES = ("Model", "ForImageClassification")
_XLM = ("Model", "WithLMHeadModel", "ForSequenceClassification", "ForQuestionAnsweringSimple")
_STAGES: Mapping[str, Any] = {"hidden_sizes": [16, 24, 32, 48], "depths": [1, 1, 2, 1], "patch_size": 4}
_SPEECH: Mapping[str, Any] = {
    "conv_dim": (16, 16, 16),
    "conv_stride": (5, 2, 2),
    "conv_kernel": (10, 3, 3),
    "num_conv_pos_embeddings": 16,
    "num_conv_pos_embedding_groups": 4,
    "layerdrop": 0.0,
}
_TWO_TOWERS: Mapping[str, Mapping[str, Any]] = {
    "text_config": {**SMALL, "eos_token_id": 119, "encoder_hidden_size": 32},
    "vision_config": {**SMALL, "num_channels": 3},
}

FAMILIES: Mapping[str, Family] = {
    "Albert": Family("Albert", {"embedding_size": 16}, _MASKED),
    "Bart": Family("Bart", {}, (*_SEQ2SEQ, "ForSequenceClassification")),
    "Bert": Family("Bert", {}, (*_MASKED, "ForMultipleChoice", "ForNextSentencePrediction", "ForPreTraining")),
    "Blenderbot": Family("Blenderbot", {}, _SEQ2SEQ),
    "BlenderbotSmall": Family("BlenderbotSmall", {}, _SEQ2SEQ),
    "Blip": Family("Blip", {}, ("Model", "ForConditionalGeneration"), _TWO_TOWERS),
    "Camembert": Family("Camembert", {}, _MASKED[:3]),
    "CLIP": Family("CLIP", {"projection_dim": 24}, ("Model",), _TWO_TOWERS),
    "ConvBert": Family("ConvBert", {}, _MASKED[:3]),
    "ConvNext": Family("ConvNext", _STAGES, _IMAGES),
    "ConvNextV2": Family("ConvNextV2", _STAGES, _IMAGES),
    "CTRL": Family("CTRL", {}, _CAUSAL),
    "Cvt": Family(
        "Cvt",
        {"embed_dim": [16, 32, 48], "num_heads": [1, 2, 3], "depth": [1, 2, 3], "patch_size": None, "image_size": 32},
        _IMAGES,
    ),
    "Data2VecVision": Family(
        "Data2VecVision", {"use_relative_position_bias": True, "out_indices": [0, 1, 1, 1]}, _IMAGES
    ),
    "Deberta": Family(
        "Deberta",
        {"relative_attention": True, "pos_att_type": ["p2c", "c2p"], "position_biased_input": False},
        _MASKED,
    ),
    "DebertaV2": Family(
        "DebertaV2",
        {
            "relative_attention": True,
            "pos_att_type": ["p2c", "c2p"],
            "position_biased_input": False,
            "position_buckets": 8,
            "share_att_key": True,
            "norm_rel_ebd": "layer_norm",
        },
        _MASKED,
    ),
    "DeiT": Family("DeiT", {}, (*_IMAGES, "ForImageClassificationWithTeacher")),
    "DistilBert": Family("DistilBert", {}, (*_MASKED[:3], "ForMultipleChoice")),
    "DPR": Family("DPR", {}, ("QuestionEncoder", "ContextEncoder", "Reader")),
    "EfficientFormer": Family(
        "EfficientFormer",
        {
            "depths": [1, 1, 1, 2],
            "hidden_sizes": [16, 24, 32, 48],
            "dim": 48,
            "resolution": 2,
            "image_size": 64,
            "num_hidden_layers": 5,
            "patch_size": 16,
        },
        _IMAGES,
        side=64,
    ),
    "Electra": Family("Electra", {"embedding_size": 16}, (*_MASKED[:3], "ForPreTraining")),
    "Esm": Family("Esm", {"position_embedding_type": "rotary", "pad_token_id": 1, "mask_token_id": 2}, _MASKED[:4]),
    "Flaubert": Family("Flaubert", {}, _XLM),
    "Funnel": Family("Funnel", {"block_sizes": [1, 1, 1], "d_head": 8}, ("BaseModel", *_MASKED)),
    "GPT2": Family("GPT2", {"pad_token_id": 0}, (*_CAUSAL, "DoubleHeadsModel")),
    "GPTJ": Family("GPTJ", {"rotary_dim": 4, "pad_token_id": 0}, ("Model", "ForCausalLM", "ForQuestionAnswering")),
    "GroupViT": Family(
        "GroupViT",
        {"projection_dim": 24, "projection_intermediate_dim": 48},
        ("Model",),
        {
            "text_config": {**SMALL, "eos_token_id": 119},
            "vision_config": {
                **SMALL,
                "depths": [1, 1, 1],
                "num_group_tokens": [8, 4, 0],
                "num_output_groups": [8, 4, 4],
            },
        },
    ),
    "Hubert": Family("Hubert", _SPEECH, ("Model", "ForCTC"), length=400),
    "LayoutLM": Family("LayoutLM", {}, (*_MASKED[:3], "ForQuestionAnswering")),
    "LayoutLMv3": Family(
        "LayoutLMv3",
        {"coordinate_size": 5, "shape_size": 6, "input_size": 32, "max_2d_position_embeddings": 128},
        ("Model", "ForSequenceClassification", "ForTokenClassification", "ForQuestionAnswering"),
    ),
    "LED": Family(
        "LED",
        {"attention_window": 8, "max_encoder_position_embeddings": 64, "max_decoder_position_embeddings": 64},
        _SEQ2SEQ,
        length=16,
    ),
    "Longformer": Family("Longformer", {"attention_window": 8}, _MASKED, length=16),
    "Lxmert": Family(
        "Lxmert",
        {
            "l_layers": 1,
            "x_layers": 1,
            "r_layers": 1,
            "visual_feat_dim": 24,
            "num_qa_labels": 5,
            "num_object_labels": 6,
            "num_attr_labels": 7,
        },
        ("Model", "ForPreTraining"),
    ),
    "Marian": Family("Marian", {"pad_token_id": 119, "decoder_start_token_id": 119}, ("Model", "MTModel")),
    "MBart": Family("MBart", {}, _SEQ2SEQ),
    "Mistral": Family(
        "Mistral", {"num_key_value_heads": 2, "pad_token_id": 0}, ("Model", "ForCausalLM", "ForSequenceClassification")
    ),
    "MobileBert": Family("MobileBert", {"intra_bottleneck_size": 16}, (*_MASKED[:3], "ForNextSentencePrediction")),
    "MobileViT": Family(
        "MobileViT",
        {
            "hidden_sizes": [32, 40, 48],
            "neck_hidden_sizes": [16, 16, 24, 32, 40, 48, 64],
            "patch_size": 2,
            "aspp_out_channels": 32,
        },
        (*_IMAGES, "ForSemanticSegmentation"),
    ),
    "MPNet": Family("MPNet", {}, _MASKED),
    "MT5": Family("MT5", {"d_kv": 8}, (*_SEQ2SEQ, "EncoderModel")),
    "OpenAIGPT": Family("OpenAIGPT", {"pad_token_id": 0}, (*_CAUSAL, "DoubleHeadsModel")),
    "OPT": Family("OPT", {"word_embed_proj_dim": 16, "pad_token_id": 1}, ("Model", "ForCausalLM")),
    "Pegasus": Family("Pegasus", {}, _SEQ2SEQ),
    "RegNet": Family("RegNet", {**_STAGES, "groups_width": 8, "embedding_size": 16}, _IMAGES),
    "RemBert": Family(
        "RemBert", {"input_embedding_size": 16, "output_embedding_size": 40}, (*_MASKED[:3], "ForCausalLM")
    ),
    "ResNet": Family("ResNet", {**_STAGES, "embedding_size": 16}, _IMAGES),
    "Roberta": Family("Roberta", {}, (*_MASKED, "ForCausalLM", "ForMultipleChoice")),
    "RobertaPreLayerNorm": Family("RobertaPreLayerNorm", {}, _MASKED[:3]),
    "RoFormer": Family("RoFormer", {"rotary_value": True}, (*_MASKED[:3], "ForCausalLM")),
    "Sam": Family(
        "Sam",
        {},
        ("Model",),
        {
            "vision_config": {
                **SMALL,
                "output_channels": 16,
                "global_attn_indexes": [1],
                "window_size": 3,
                "mlp_dim": 48,
                "num_pos_feats": 8,
            },
            "prompt_encoder_config": {"hidden_size": 16, "image_size": 32, "patch_size": 8, "mask_input_channels": 4},
            "mask_decoder_config": {
                "hidden_size": 16,
                "num_hidden_layers": 2,
                "mlp_dim": 24,
                "num_attention_heads": 2,
                "iou_head_hidden_dim": 16,
            },
        },
    ),
    "Segformer": Family(
        "Segformer",
        {
            "depths": [1, 1, 1, 1],
            "hidden_sizes": [8, 16, 24, 32],
            "num_attention_heads": [1, 2, 2, 4],
            "decoder_hidden_size": 16,
        },
        (*_IMAGES, "ForSemanticSegmentation"),
        side=64,
    ),
    "Speech2Text": Family(
        "Speech2Text",
        {"conv_channels": 32, "input_feat_per_channel": 16, "max_source_positions": 64, "max_target_positions": 64},
        _SEQ2SEQ,
        length=24,
    ),
    "SwiftFormer": Family(
        "SwiftFormer", {"depths": [1, 1, 1, 1], "embed_dims": [16, 24, 32, 48], "image_size": 64}, _IMAGES, side=64
    ),
    "Swin": Family(
        "Swin",
        {
            "patch_size": 2,
            "embed_dim": 16,
            "depths": [2, 2],
            "num_heads": [2, 4],
            "window_size": 4,
            "encoder_stride": 4,
        },
        (*_IMAGES, "ForMaskedImageModeling"),
    ),
    "T5": Family("T5", {"d_kv": 8, "decoder_start_token_id": 0}, (*_SEQ2SEQ, "EncoderModel")),
    "Tapas": Family(
        "Tapas",
        {"type_vocab_sizes": [3, 16, 16, 2, 16, 16, 10]},
        ("Model", "ForMaskedLM", "ForSequenceClassification", "ForQuestionAnswering"),
    ),
    "TransfoXL": Family(
        "TransfoXL",
        {"cutoffs": [20, 60], "d_head": 8, "mem_len": 16, "clamp_len": 15, "div_val": 2},
        ("Model", "LMHeadModel"),
    ),
    "ViT": Family("ViT", {}, _IMAGES),
    "ViTMAE": Family(
        "ViTMAE",
        {
            "decoder_hidden_size": 24,
            "decoder_num_hidden_layers": 1,
            "decoder_num_attention_heads": 2,
            "decoder_intermediate_size": 32,
        },
        ("Model", "ForPreTraining"),
    ),
    "Wav2Vec2": Family("Wav2Vec2", _SPEECH, ("Model", "ForCTC", "ForSequenceClassification"), length=400),
    "Whisper": Family(
        "Whisper",
        {
            "num_mel_bins": 16,
            "max_source_positions": 20,
            "max_target_positions": 40,
            "decoder_start_token_id": 5,
            "eos_token_id": 2,
            "pad_token_id": 2,
            "bos_token_id": 1,
            "suppress_tokens": None,
            "begin_suppress_tokens": None,
        },
        _SEQ2SEQ,
        length=40,
    ),
    "XGLM": Family("XGLM", {"pad_token_id": 1}, ("Model", "ForCausalLM")),
    "XLM": Family("XLM", {}, _XLM),
    "XLMRoberta": Family("XLMRoberta", {}, _MASKED[:3]),
    "XLNet": Family(
        "XLNet",
        {"mem_len": None},
        ("Model", "LMHeadModel", "ForSequenceClassification", "ForTokenClassification", "ForQuestionAnsweringSimple"),
    ),
}
